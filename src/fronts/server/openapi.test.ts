import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../operations/index.ts'
import { ROUTES } from '../../operations/routes.ts'
import { LIVE_FIELDS } from './live-asked.ts'
import { openApi } from './openapi.ts'

type Described = { operationId: string; summary: string; parameters: { name: string; in: string }[] }
type Document = { openapi: string; paths: Record<string, Record<string, Described>> }

const document = JSON.parse(JSON.stringify(openApi('1.2.3'))) as Document

test('the description is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  expect(validator.version).toBe('3.1')
})

test('the validator does find errors', async () => {
  const wrong = { ...document, paths: { '/api/loops': { get: { parameters: [{ name: 'x', in: 'nowhere' }] } } } }
  expect((await new Validator().validate(wrong)).valid).toBe(false)
})

test('every operation with a route is described at its path, in its own words', () => {
  for (const [name, { method, path }] of Object.entries(ROUTES)) {
    const described = document.paths[path]?.[method.toLowerCase()]
    expect(described).toMatchObject({ operationId: name, summary: OPERATIONS[name as keyof typeof OPERATIONS].summary })
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field)
    expect(described?.parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(inPath)
  }
})

test('the live stream is described with all its parameters', () => {
  const { parameters } = document.paths['/api/live']?.get ?? { parameters: [] }
  expect(parameters.filter((one) => one.in === 'query').map((one) => one.name)).toEqual(LIVE_FIELDS)
})

test('no two operations share a route', () => {
  const places = Object.values(ROUTES).map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  expect(new Set(places).size).toBe(places.length)
})
