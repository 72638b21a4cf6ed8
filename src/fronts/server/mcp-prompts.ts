/** The prompts that a client offers its user. */
import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { BOARD_PROMPTS } from '../../prompt/board-prompts.ts'

export function offerPrompts(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: BOARD_PROMPTS.map(({ name, title, description, argument }) => ({
      name,
      title,
      description,
      arguments: [{ ...argument, required: true }],
    })),
  }))
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = BOARD_PROMPTS.find(({ name }) => name === params.name)
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: "${params.name}".`)
    const { description, argument, words } = prompt
    const given = params.arguments?.[argument.name]
    if (!given?.trim())
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${params.name} needs the argument ${argument.name}.`)
    return { description, messages: [{ role: 'user', content: { type: 'text', text: words(given) } }] }
  })
}
