import { ApiError } from '@market/kernel/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const MAX_DEPTH = 32
/** Checking fields costs far more CPU than parsing them. No operation has this many. */
const MAX_KEYS = 1_000

/** Parses a JSON text or rejects with an `ApiError`. */
export type ParseJson = (request: FastifyRequest, text: string) => Promise<unknown>

/** Accepts JSON only, up to `MAX_DEPTH` levels and `MAX_KEYS` keys, without keys such as `__proto__`. */
export function acceptJson(app: FastifyInstance): void {
  const parse = jsonParser(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (request: FastifyRequest, body: string) => parse(request, body),
  )
}

/** The same parser for a body that Fastify does not read. */
export function jsonParser(app: FastifyInstance): ParseJson {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  return async (request, text) => {
    if (text === '') return undefined
    const { depth, keys } = measure(text)
    if (depth > MAX_DEPTH)
      throw new ApiError(
        'invalid',
        `The JSON body is nested too deeply. At most ${MAX_DEPTH} levels are allowed.`,
      )
    if (keys > MAX_KEYS)
      throw new ApiError('invalid', `The JSON body has too many keys. At most ${MAX_KEYS} are allowed.`, {
        code: 'too_many_keys',
      })
    return new Promise((resolve, reject) => {
      parseJson(request, text, (error: Error | null, value: unknown) => {
        if (error === null) resolve(value)
        else reject(new ApiError('invalid', 'The body is not valid JSON', { code: 'bad_json' }))
      })
    })
  }
}

/** Counts brackets and colons outside strings, which is cheaper than parsing the body. Stops at the first limit. */
function measure(text: string): { readonly depth: number; readonly keys: number } {
  let depth = 0
  let keys = 0
  let inString = false
  for (let at = 0; at < text.length && depth <= MAX_DEPTH && keys <= MAX_KEYS; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === COLON) keys++
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return { depth, keys }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
