import { type SignedUntil, TooFewProviders } from '@market/core/ports/chain'
import { SECOND } from '@market/kernel/clock'
import type { NodePool } from '../nodes/node-pool.ts'
import { supported } from '../nodes/providers.ts'
import { blockAt } from './evm-nodes.ts'
import { readBlock } from './parse-rpc.ts'
import { VALID_SECONDS } from './payout-authorization.ts'
import { callAll } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

/** Whoever signed may have asked providers that were ahead of those that respond now: nodes lag by a minute at most. */
const LAG_SECONDS = 60n

/** Until when an authorization can be executed that anybody signed before this call. */
export const readSignedUntil = async (
  { network, chainId, minProviders }: EvmSettings,
  nodes: NodePool,
): Promise<SignedUntil> => {
  const { responses, failures } = await nodes.queryProviders(async (node) => {
    const [newest] = await callAll(node, chainId, [blockAt('latest')])
    const block = readBlock(newest)
    if (block === undefined) throw new Error('the node has no newest block')
    return block
  }, minProviders)
  const shown = responses.map(({ response }) => response)
  const height = supported(
    shown.map((block) => block.height),
    minProviders,
  )
  const time = supported(
    shown.map(({ at }) => BigInt(at.getTime() / SECOND)),
    minProviders,
  )
  if (height === undefined || time === undefined)
    throw new TooFewProviders(`The newest block of ${network} is shown by too few providers`, {
      cause: new AggregateError(failures),
    })
  return { height, until: new Date(Number(time + VALID_SECONDS + LAG_SECONDS) * SECOND) }
}
