/** A tool for models: how a client sees it, and what it does. Most of them are operations. */
import type * as z from 'zod'
import { refuseBelowTurn } from '../../operations/below-turn.ts'
import { call, checkInput } from '../../operations/call.ts'
import { OPERATIONS, type OperationName } from '../../operations/index.ts'
import type { Context, Operation } from '../../operations/operation.ts'
import { SCHEMAS } from '../../operations/schemas.ts'
import { inputSchema, type JsonSchema, outputSchema, withoutNull } from './mcp-schema.ts'

export type McpTool = {
  name: string
  title: string
  description: string
  inputSchema: JsonSchema
  outputSchema: JsonSchema
  /** Hints about changes are omitted for tools that change nothing. */
  annotations: {
    readOnlyHint: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint: boolean
  }
  run(context: Context, input: Record<string, unknown>): Promise<object>
  /** The resources that a result is about. */
  links?(output: object): Link[]
  /** What would be lost, as a sentence: then it needs confirmation. */
  loses?(context: Context, input: Record<string, unknown>): Promise<string | undefined>
}

export type Link = { uri: string; name: string }

/** What a model sees of an output that is too long, or is not an object. */
export type View<Output> = { schema: z.ZodType; of(output: Output): object }

type OutputOf<Name extends OperationName> = Awaited<ReturnType<(typeof OPERATIONS)[Name]['run']>>

/** `asks`, `tells`: the fields that its schemas name, when input and output have many more. */
type Manner<Name extends OperationName> = {
  asks?: readonly string[]
  /** The same for the items of its one list. */
  items?: readonly string[]
  /** null means the same as omitting a field, and is not mentioned. */
  noNull?: true
  /** What a model gets by default. */
  usual?: object
  view?: View<OutputOf<Name>>
  tells?: readonly string[]
  links?: McpTool['links']
  loses?: McpTool['loses']
}

/** An operation as a tool. One that may lose something also takes `confirm`. */
export function operationTool<Name extends OperationName>(
  name: Name,
  { view, asks, items, noNull, usual, tells, links, loses }: Manner<Name> = {},
): McpTool {
  const operation: Operation<never, unknown> = OPERATIONS[name]
  const { input, output } = SCHEMAS[name]
  const whole = inputSchema(input.toJSONSchema(), { fields: asks, items })
  const takes = noNull ? withoutNull(whole) : whole
  return {
    ...faceOf(operation),
    inputSchema: loses ? withConfirm(takes) : takes,
    outputSchema: outputSchema((view?.schema ?? output).toJSONSchema(), tells),
    async run(context, given) {
      await mayCall(context)
      const found = await call(context, name, { ...usual, ...given })
      return view ? view.of(found as OutputOf<Name>) : (found as object)
    },
    ...(links ? { links } : {}),
    ...(loses ? { loses: losesOf } : {}),
  }

  /** An agent inside a loop must not end or excuse loops, its own least of all. */
  async function mayCall(context: Context): Promise<void> {
    if (operation.effect === 'destroy' || operation.person) await refuseBelowTurn(context)
  }

  /** No confirmation for what would be refused anyway. */
  async function losesOf(context: Context, given: Record<string, unknown>): Promise<string | undefined> {
    await mayCall(context)
    checkInput(name, { ...usual, ...given })
    return loses?.(context, given)
  }
}

/** How a client sees an operation. */
export function faceOf({
  name,
  summary,
  effect,
  agent = {},
}: Operation<never, unknown>): Pick<McpTool, 'name' | 'title' | 'description' | 'annotations'> {
  const tool = agent.tool ?? name
  return {
    name: tool,
    title: `${tool[0]?.toUpperCase()}${tool.slice(1).replaceAll('_', ' ')}`,
    description: [summary, ...(agent.description ? [agent.description] : [])].join(' '),
    annotations: annotationsOf(effect, agent),
  }
}

function annotationsOf(
  effect: Operation<never, unknown>['effect'],
  { idempotent, openWorld }: NonNullable<Operation<never, unknown>['agent']>,
): McpTool['annotations'] {
  const world = { openWorldHint: openWorld === true }
  if (effect === 'read') return { readOnlyHint: true, ...world }
  const change = { destructiveHint: effect === 'destroy', idempotentHint: idempotent === true }
  return { readOnlyHint: false, ...change, ...world }
}

function withConfirm(schema: JsonSchema): JsonSchema {
  const confirm = { type: 'boolean', description: 'Go ahead even if something is lost.' }
  return { ...schema, properties: { ...(schema.properties as object), confirm } }
}
