import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { postJson } from '@market/testing/post-json'

export interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** What the relay does with a request: forward it, respond itself, or change the response of the node. */
export type Mood =
  | { readonly kind: 'pass' }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'error'
      readonly code: number
      readonly message: string
      /** Default: all calls. */
      readonly when?: (call: RpcCall) => boolean
    }
  | { readonly kind: 'change'; readonly result: (call: RpcCall, result: unknown) => unknown }

export interface NodeRelay {
  readonly url: string
  mood: Mood
  /** The received requests and their methods. */
  readonly requests: () => number
  readonly methods: () => readonly string[]
  stop(): Promise<void>
}

interface RpcAnswer {
  readonly id: number
  readonly result: unknown
}

const passTo = async (target: string, body: Buffer): Promise<RpcAnswer[]> => {
  return [JSON.parse(await postJson(target, body)) as RpcAnswer | RpcAnswer[]].flat()
}

const answerIn = async (
  mood: Mood,
  target: string,
  body: Buffer,
  response: ServerResponse,
): Promise<void> => {
  const asked = JSON.parse(body.toString()) as RpcCall | RpcCall[]
  const calls = [asked].flat()
  // A single call is not in a list.
  const reply = (answers: readonly unknown[]) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
  switch (mood.kind) {
    case 'pass':
      reply(await passTo(target, body))
      return
    case 'answer':
      response.writeHead(mood.status).end(mood.body)
      return
    case 'silence':
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'error': {
      const { code, message, when = () => true } = mood
      const answers = await passTo(target, body)
      reply(
        calls.map((call) =>
          when(call)
            ? { jsonrpc: '2.0', id: call.id, error: { code, message } }
            : answers.find(({ id }) => id === call.id),
        ),
      )
      return
    }
    case 'change': {
      const answers = await passTo(target, body)
      reply(
        calls.map((call) => {
          const answer = answers.find(({ id }) => id === call.id)
          return { jsonrpc: '2.0', id: call.id, ...answer, result: mood.result(call, answer?.result) }
        }),
      )
      return
    }
  }
}

/** A proxy server in front of a real node. */
export const relayTo = async (target: string): Promise<NodeRelay> => {
  let requests = 0
  const methods: string[] = []
  const server = createServer(async (request, response) => {
    requests += 1
    const body = Buffer.concat(await request.toArray())
    for (const { method } of [JSON.parse(body.toString())].flat() as RpcCall[]) methods.push(method)
    await answerIn(relay.mood, target, body, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const relay: NodeRelay = {
    // An API key in the path, as providers use it.
    url: `http://127.0.0.1:${port}/v2/the-key-of-the-provider`,
    mood: { kind: 'pass' },
    requests: () => requests,
    methods: () => methods,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
