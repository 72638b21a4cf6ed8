/** Counts the tokens that the list of MCP tools costs a model: `node scripts/count-tools.ts`. */
import { countTools } from '../src/fronts/server/count-tools.ts'

const rows = countTools()
for (const { name, tokens } of rows) console.log(`${String(tokens).padStart(6)}  ${name}`)
console.log(`${String(rows.reduce((sum, { tokens }) => sum + tokens, 0)).padStart(6)}  total`)
