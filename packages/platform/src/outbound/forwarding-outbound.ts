import { readFileSync } from 'node:fs'
import {
  type Outbound,
  OutboundFailure,
  type OutboundRequest,
  type OutboundResponse,
} from '@market/core/ports/outbound'

/**
 * For development: sends the webhooks of some agents to a program on this machine. The file is a JSON object of agent ids and
 * URLs, read for each request. Everything else goes through the guard.
 */
export const forwardingOutbound = (guarded: Outbound, file: string): Outbound => ({
  checkUrl: guarded.checkUrl,
  get: guarded.get,
  post: async (request) => {
    const forwards: Readonly<Record<string, string>> = JSON.parse(readFileSync(file, 'utf8'))
    const to = forwards[request.headers['X-Market-Agent-Id'] ?? '']
    return to === undefined ? guarded.post(request) : postTo(to, request)
  },
})

async function postTo(url: string, { headers, body, timeoutMs }: OutboundRequest): Promise<OutboundResponse> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    return { status: response.status, body: await response.text() }
  } catch {
    throw new OutboundFailure(signal.aborted ? 'timeout' : 'connect', `No response from ${url}.`)
  }
}
