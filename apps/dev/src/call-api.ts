import { randomInt } from 'node:crypto'

export type CallApi = (
  path: string,
  body?: object,
  bearer?: string,
  method?: 'GET' | 'POST' | 'PATCH',
) => Promise<Record<string, unknown>>

/** Calls the api from addresses reserved for documentation, so that it does not use up the rate limit of 127.0.0.1. */
export const apiCaller =
  (url: string): CallApi =>
  async (path, body, bearer, method = body === undefined ? 'GET' : 'POST') => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-forwarded-for': `192.0.2.${randomInt(1, 255)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const result = (await response.json()) as { data?: Record<string, unknown>; error?: string }
    if (!response.ok || result.data === undefined)
      throw new Error(`${path}: ${result.error ?? response.status}`)
    return result.data
  }
