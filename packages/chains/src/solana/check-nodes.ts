import { ApiError, unavailable } from '@market/kernel/api-error'
import { address, getBase64Encoder } from '@solana/kit'
import { getMintDecoder, getMintSize, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { SolanaNode, SolanaNodes, SolanaRpc } from './nodes.ts'
import { type SolanaSettings, USDC_DECIMALS } from './settings.ts'

const assetTrouble = async (rpc: SolanaRpc, mint: string): Promise<string | undefined> => {
  const { value } = await rpc.getAccountInfo(address(mint), { encoding: 'base64' }).send()
  if (value === null) return `does not know the mint ${mint}`
  const data = getBase64Encoder().encode(value.data[0])
  if (value.owner !== TOKEN_PROGRAM_ADDRESS || data.length !== getMintSize()) {
    return `says that ${mint} is no mint of the Token program`
  }
  const { decimals } = getMintDecoder().decode(data)
  return decimals === USDC_DECIMALS ? undefined : `says that ${mint} has ${decimals} decimals`
}

const troubleWith = async (node: SolanaNode, settings: SolanaSettings): Promise<string | undefined> => {
  const genesis = await node.rpc.getGenesisHash().send()
  if (genesis !== settings.genesisHash) return `is on another chain (genesis ${genesis})`
  return assetTrouble(node.rpc, settings.usdc)
}

/** A node on another chain is a fault of the settings and no outage: it is told by name, before anything is believed. */
export const checkNodes = async (nodes: SolanaNodes, settings: SolanaSettings): Promise<void> => {
  const away: string[] = []
  const wrong: string[] = []
  const causes: unknown[] = []
  await Promise.all(
    nodes.each.map(async (node) => {
      try {
        const trouble = await troubleWith(node, settings)
        if (trouble !== undefined) wrong.push(`${node.name} ${trouble}`)
      } catch (failure) {
        if (!(failure instanceof ApiError)) throw failure
        away.push(node.name)
        causes.push(failure)
      }
    }),
  )
  if (wrong.length > 0) throw new Error(wrong.sort().join('; '))
  if (away.length > 0)
    throw unavailable(`${away.sort().join(', ')} cannot be reached`, new AggregateError(causes))
}
