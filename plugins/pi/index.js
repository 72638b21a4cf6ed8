// What Pi loads; the extension itself is built from src/fronts/pi.
export { default } from '../../dist/pi.mjs'
