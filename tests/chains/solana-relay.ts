import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { postJson } from '@market/testing/post-json'

export interface Call {
  readonly id: string
  readonly method: string
  readonly params: readonly unknown[]
}

/** Replaces the response: an HTTP status, no response, or a broken connection. */
export type Trouble =
  | { readonly kind: 'status'; readonly status: number; readonly body: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' }

/** Returns the result to send, possibly that of the node. */
export type Manner = (call: Call, ask: () => Promise<unknown>) => Promise<unknown>

export class InTrouble extends Error {
  readonly trouble: Trouble
  constructor(trouble: Trouble) {
    super(trouble.kind)
    this.trouble = trouble
  }
}

/** A JSON-RPC error response, as of a lagging node. */
export class RpcFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface SolanaRelay {
  readonly url: string
  manner: Manner
  /** The requested methods, in order. */
  readonly asked: string[]
  stop(): Promise<void>
}

export const always =
  (trouble: Trouble): Manner =>
  async () => {
    throw new InTrouble(trouble)
  }

/** Reports that a new blockhash expires at once, and that the chain has one block. */
export const lyingAboutExpiry: Manner = async ({ method }, ask) => {
  if (method === 'getBlockHeight') return 1
  if (method !== 'getLatestBlockhash') return ask()
  const { context, value } = (await ask()) as { readonly context: object; readonly value: object }
  return { context, value: { ...value, lastValidBlockHeight: 1 } }
}

const forward = async (target: string, body: string): Promise<unknown> => {
  const answer = JSON.parse(await postJson(target, body)) as {
    result?: unknown
    error?: { code: number; message: string }
  }
  if (answer.error !== undefined) throw new RpcFailure(answer.error.code, answer.error.message)
  return answer.result
}

/** A proxy server in front of a real node that can simulate failures. */
export const startSolanaRelay = async (target: string): Promise<SolanaRelay> => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const call = JSON.parse(body) as Call
    asked.push(call.method)
    const reply = (content: Readonly<Record<string, unknown>>) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...content }))
    try {
      reply({ result: (await relay.manner(call, () => forward(target, body))) ?? null })
    } catch (failure) {
      if (failure instanceof RpcFailure) {
        reply({ error: { code: failure.code, message: failure.message } })
        return
      }
      const trouble: Trouble = failure instanceof InTrouble ? failure.trouble : { kind: 'reset' }
      if (trouble.kind === 'status') response.writeHead(trouble.status).end(trouble.body)
      if (trouble.kind === 'reset') response.socket?.resetAndDestroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const relay: SolanaRelay = {
    // An API key in the path, as providers use it.
    url: `http://127.0.0.1:${port}/the-key-of-the-provider`,
    manner: (_call, ask) => ask(),
    asked,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
