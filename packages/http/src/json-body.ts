import { ApiError } from '@market/kernel/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const MAX_DEPTH = 32

/** The value of a text, or a error. */
export type ParseJson = (request: FastifyRequest, text: string) => Promise<unknown>

/** JSON only, no deeper than any of our inputs, and no key that would reach into an object's prototype. */
export function acceptJson(app: FastifyInstance): void {
  const parse = jsonParser(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (request: FastifyRequest, body: string) => parse(request, body),
  )
}

/** By the same rules, for a body that is read by hand. */
export function jsonParser(app: FastifyInstance): ParseJson {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  return async (request, text) => {
    if (text === '') return undefined
    if (isTooDeep(text)) throw new ApiError('invalid', `JSON may nest at most ${MAX_DEPTH} levels`)
    return new Promise((resolve, reject) => {
      parseJson(request, text, (error: Error | null, value: unknown) => {
        if (error === null) resolve(value)
        else reject(new ApiError('invalid', 'The body is not JSON that can be read', { code: 'bad_json' }))
      })
    })
  }
}

/** Counts brackets outside strings: cheaper than parsing, so that a bomb costs less than its own bytes. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
