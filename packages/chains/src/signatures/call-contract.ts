import { unavailable } from '@market/kernel/api-error'
import type { Hex } from 'viem'
import { isContractFailure } from '../evm/contract-failure.ts'

export interface ChainAccess {
  readonly rpcUrls: readonly string[]
  readonly timeoutMs: number
  readonly beforeQuery?: (() => Promise<void>) | undefined
}

/** Without `to`, `data` is a constructor that is simulated for its return value. */
interface ContractCall {
  readonly to?: Hex
  readonly data: Hex
}

/**
 * Caller of the simulation. The default would be the zero address, for which some wallets skip checks because they assume
 * a gas estimate. This address has no known private key.
 */
const CALLER: Hex = '0x00000000000000000000000000006d61726b6574'
/** Enough to deploy a smart wallet and verify a passkey signature in it. */
const GAS = '0x989680'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Returns the result of the contract, or undefined when the contract failed. Throws when the node failed. */
const callNode = async (url: string, call: ContractCall, timeoutMs: number): Promise<string | undefined> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ from: CALLER, gas: GAS, ...call }, 'latest'],
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  // Some nodes report a failed contract with HTTP 400 or 500, so the body is read before the status.
  const body: unknown = await response.json()
  if (isRecord(body) && isRecord(body['error'])) {
    const code = Number(body['error']['code'])
    const message = String(body['error']['message'])
    if (isContractFailure({ code, message })) return undefined
    throw new Error(`the node returned error ${code} for eth_call: ${message}`)
  }
  if (response.ok && isRecord(body) && typeof body['result'] === 'string') return body['result']
  throw new Error(`the node returned HTTP ${response.status} without a result`)
}

/** Queries the nodes in order until one responds. An outage throws; it never counts as an invalid signature. */
export const callContract = async (access: ChainAccess, call: ContractCall): Promise<string | undefined> => {
  await access.beforeQuery?.()
  const failures: unknown[] = []
  for (const url of access.rpcUrls) {
    try {
      return await callNode(url, call, access.timeoutMs)
    } catch (failure) {
      failures.push(failure)
    }
  }
  throw unavailable(
    'This is not a key signature of this wallet. To verify it as a smart wallet signature we must query the chain, which cannot be reached. Try again later.',
    // Without configured nodes this is expected, so there is no cause to log.
    failures.length === 0 ? undefined : new AggregateError(failures, 'no EVM node responded'),
  )
}
