import { copilot } from './clients/copilot.ts'
import { droid } from './clients/droid.ts'
import { gemini } from './clients/gemini.ts'
import { qwen } from './clients/qwen.ts'
import { loopSideBySide } from './dispatch-clients.ts'

loopSideBySide({ clients: [copilot, droid, gemini, qwen], task: 'Write the file.\n\n\tWith `care`.\n任务 🦉' })
