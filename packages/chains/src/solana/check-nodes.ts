import { ApiError, unavailable } from '@market/kernel/api-error'
import { address, getBase64Encoder } from '@solana/kit'
import { getMintDecoder, getMintSize, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { SolanaNode, SolanaNodes, SolanaRpc } from './nodes.ts'
import { type SolanaSettings, USDC_DECIMALS } from './settings.ts'

const checkMint = async (rpc: SolanaRpc, mint: string): Promise<string | undefined> => {
  const { value } = await rpc.getAccountInfo(address(mint), { encoding: 'base64' }).send()
  if (value === null) return `does not have the mint ${mint}`
  const data = getBase64Encoder().encode(value.data[0])
  if (value.owner !== TOKEN_PROGRAM_ADDRESS || data.length !== getMintSize()) {
    return `reports that ${mint} is not a mint of the Token program`
  }
  const { decimals } = getMintDecoder().decode(data)
  return decimals === USDC_DECIMALS ? undefined : `reports that ${mint} has ${decimals} decimals`
}

const checkNode = async (node: SolanaNode, settings: SolanaSettings): Promise<string | undefined> => {
  const genesis = await node.rpc.getGenesisHash().send()
  if (genesis !== settings.genesisHash) return `is on another chain (genesis ${genesis})`
  return checkMint(node.rpc, settings.usdc)
}

/** A node on another chain is a configuration error, not an outage. The error names the node. */
export const checkNodes = async (nodes: SolanaNodes, settings: SolanaSettings): Promise<void> => {
  const unreachable: string[] = []
  const wrong: string[] = []
  const causes: unknown[] = []
  await Promise.all(
    nodes.each.map(async (node) => {
      try {
        const problem = await checkNode(node, settings)
        if (problem !== undefined) wrong.push(`${node.name} ${problem}`)
      } catch (failure) {
        if (!(failure instanceof ApiError)) throw failure
        unreachable.push(node.name)
        causes.push(failure)
      }
    }),
  )
  if (wrong.length > 0) throw new Error(wrong.sort().join('; '))
  if (unreachable.length > 0)
    throw unavailable(`${unreachable.sort().join(', ')} cannot be reached`, new AggregateError(causes))
}
