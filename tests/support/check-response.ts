import { routesOf } from '@market/contract/define'
import { ERROR_CODES } from '@market/contract/error-codes'
import { operationList } from '@market/contract/operations'
import { openApi } from '@market/http/openapi'
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** Compares responses with the OpenAPI document and the list of error codes. Validators are compiled at their first use. */

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, unknown>> }>>>
  >
  readonly components: { readonly schemas: { readonly Failure: { readonly properties: object } } }
}

const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)

/** Routes with fewer parameters come first: `/api/agents/me` is not an agent's id. */
const ROUTES = operationList
  .flatMap(routesOf)
  .map(({ method, path }) => ({ method, path, pattern: patternOf(path), parameters: path.split('{').length }))
  .sort((a, b) => a.parameters - b.parameters)

let compiled: ReturnType<typeof compile> | undefined

function compile() {
  const document = openApi('https://market.test') as unknown as Document
  // Each validator checks a few responses, so compiling what they share once, and plainly, takes a fifth of the time.
  const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } })
  addFormats.default(ajv)
  ajv.addSchema(document as unknown as AnySchema, 'openapi')
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (pointer: readonly string[]): ValidateFunction => {
    const reference = pointer.map(escaped).join('/')
    const validator = validators.get(reference) ?? ajv.compile({ $ref: `openapi#/${reference}` })
    validators.set(reference, validator)
    return validator
  }
  return { document, ajv, validatorOf }
}

type Fields = Readonly<Record<string, unknown>>

/** What is wrong with the response to a request of an operation, or undefined. */
export function responseProblem(
  method: string,
  url: string,
  status: number,
  body: unknown,
): string | undefined {
  const path = url.split('?')[0] ?? ''
  const route = ROUTES.find((one) => one.method === method && one.pattern.test(path))
  if (route === undefined || (body as Fields)['code'] === 'no_such_route') return undefined
  compiled ??= compile()
  const { document, ajv, validatorOf } = compiled
  const key = method.toLowerCase()
  const where = `${method} ${route.path} ${status}`
  if (!(String(status) in (document.paths[route.path]?.[key]?.responses ?? {})))
    return `${where} is not declared`
  const pointer = ['paths', route.path, key, 'responses', String(status), 'content', 'application/json']
  const validate = validatorOf([...pointer, 'schema'])
  if (!validate(body)) return `${where} is not as described: ${ajv.errorsText(validate.errors)}`
  return status < 400 ? undefined : errorProblem(where, status, body as Fields, document)
}

function errorProblem(where: string, status: number, body: Fields, document: Document): string | undefined {
  if ('accepts' in body) return undefined
  const statuses: readonly number[] = ERROR_CODES[body['code'] as keyof typeof ERROR_CODES] ?? []
  if (!statuses.includes(status)) return `${where}: ${String(body['code'])} is not listed with this status`
  const declared = Object.keys(document.components.schemas.Failure.properties)
  const unknown = Object.keys(body).filter((name) => !declared.includes(name))
  return unknown.length === 0 ? undefined : `${where}: undeclared ${unknown.join(', ')}`
}
