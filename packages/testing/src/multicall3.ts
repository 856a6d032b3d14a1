import type { Address } from 'viem'
import { MULTICALL3_CODE } from './contracts/multicall3.ts'

/** Its address on every chain. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Puts Multicall3 at its address on a local node. Needs no transaction and mines no block. */
export const installMulticall3 = async (rpcUrl: string): Promise<void> => {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1 },
      ...{ method: 'anvil_setCode', params: [MULTICALL3, MULTICALL3_CODE] },
    }),
  })
  const body: unknown = await response.json()
  if (!(typeof body === 'object' && body !== null && 'result' in body))
    throw new Error(`anvil_setCode: ${JSON.stringify(body)}`)
}
