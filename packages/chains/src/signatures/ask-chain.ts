import { unavailable } from '@market/kernel/api-error'
import type { Hex } from 'viem'
import { isContractFailure } from '../evm/contract-failure.ts'

export interface ChainAccess {
  readonly rpcUrls: readonly string[]
  readonly timeoutMs: number
}

/** `to` is left out when `data` is a constructor that is run for its answer and leaves nothing behind. */
interface Question {
  readonly to?: Hex
  readonly data: Hex
}

/**
 * The simulated caller. Left out, a node takes the zero address, and some wallets relax their checks for that caller
 * because they hold it for a gas estimate. Nobody has the key of this one.
 */
const CALLER: Hex = '0x00000000000000000000000000006d61726b6574'
/** Enough to deploy a smart wallet and check a passkey in it; a wallet that burns more is not worth waiting for. */
const GAS = '0x989680'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** The answer of the contract; undefined when the contract failed; throws when the node gave no verdict. */
const askNode = async (url: string, question: Question, timeoutMs: number): Promise<string | undefined> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ from: CALLER, gas: GAS, ...question }, 'latest'],
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  // Some nodes answer a failed contract with a status of 400 or 500, so the body is read first.
  const body: unknown = await response.json()
  if (isRecord(body) && isRecord(body['error'])) {
    const code = Number(body['error']['code'])
    const message = String(body['error']['message'])
    if (isContractFailure({ code, message })) return undefined
    throw new Error(`the node rejected eth_call: ${code} ${message}`)
  }
  if (response.ok && isRecord(body) && typeof body['result'] === 'string') return body['result']
  throw new Error(`the node answered ${response.status} without a result`)
}

/** Asks each node once, in order, until one gives a verdict. An outage is never taken for a "no". */
export const askChain = async (access: ChainAccess, question: Question): Promise<string | undefined> => {
  const failures: unknown[] = []
  for (const url of access.rpcUrls) {
    try {
      return await askNode(url, question, access.timeoutMs)
    } catch (failure) {
      failures.push(failure)
    }
  }
  throw unavailable(
    'This signature needs its chain to be asked (it is not a plain key signature of this wallet), and the chain cannot be reached: try again',
    // No node to ask is how this application was set up, not a fault to be noted each time a stranger sends nonsense.
    failures.length === 0 ? undefined : new AggregateError(failures, 'no EVM node gave a verdict'),
  )
}
