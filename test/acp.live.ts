/** Agents that speak the Agent Client Protocol. */
import { gemini } from './clients/gemini.ts'
import { conformance } from './conformance.ts'

conformance(
  { ...gemini, agent: 'acp:gemini --acp --yolo --skip-trust' },
  {
    denied: 'its own flags decide what it asks for',
    session: 'a model cannot be named by the protocol',
  },
)
