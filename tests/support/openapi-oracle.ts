import type { Operation } from '@market/contract/define'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Market } from './market.ts'

export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

interface OpenApiOperation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}

export async function readOpenApi(market: Market): Promise<OpenApi> {
  const response = await fetch(`${market.url}/api/openapi.json`)
  return (await response.json()) as OpenApi
}

const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

/** Validates responses with the OpenAPI description that the API serves. */
export async function openApiOracle(market: Market) {
  const description = await readOpenApi(market)
  // Each validator checks a few responses, so compiling what they share once, and plainly, takes a fifth of the time.
  const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } })
  addFormats.default(ajv)
  ajv.addSchema(description as AnySchema, 'openapi')
  const known = new Map<string, ReturnType<typeof ajv.compile>>()

  function validatorOf(operation: Operation, status: number) {
    const pointer = ['paths', operation.path, operation.method.toLowerCase(), 'responses', String(status)]
    const reference = [...pointer, 'content', 'application/json', 'schema'].map(escaped).join('/')
    const validator = known.get(reference) ?? ajv.compile({ $ref: `openapi#/${reference}` })
    known.set(reference, validator)
    return validator
  }

  /** The mismatch between a response and the description, or undefined. */
  return (operation: Operation, status: number, body: unknown): string | undefined => {
    const described = description.paths[operation.path]?.[operation.method.toLowerCase()]
    if (described === undefined) return 'the operation is not in the description'
    if (!(String(status) in described.responses)) return `status ${status} is not declared`
    const validate = validatorOf(operation, status)
    return validate(body) ? undefined : `${status} is not as described: ${ajv.errorsText(validate.errors)}`
  }
}
