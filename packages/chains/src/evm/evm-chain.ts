import type { Chain } from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { getAddress, isAddress } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import { agreeOnTransfer } from '../nodes/providers.ts'
import { checkNode } from './check-node.ts'
import { agreedFinalHeight, evmNodes, heightOf } from './evm-nodes.ts'
import { checkTransferOnNode, normalizeHash, observeTransfer } from './find-transfer.ts'
import { formatPosition, parsePosition } from './log-position.ts'
import { readBalance } from './read-balance.ts'
import { readFinal, readStartingBlock } from './read-final.ts'
import { readNew } from './read-new.ts'
import { blocksFor, type EvmSettings } from './settings.ts'
import { readSignedUntil } from './signed-until.ts'

/** Read access to Base or to the third network. */
export const evmChain = (settings: EvmSettings): Chain => {
  const nodes = evmNodes(settings)
  const { network, treasury, cold, minPayout, ownPayers, usdc } = settings
  return {
    network,
    treasury,
    cold,
    minPayout,
    ...(ownPayers !== undefined && { ownPayers }),
    usdc,
    displayAddress: (address) => (isAddress(address) ? getAddress(address) : address),

    async findTransfer(query) {
      const hash = normalizeHash(query.reference)
      if (hash === undefined) return { kind: 'rejected', reason: 'bad_reference' }
      const { readFinal } = query
      const readHead = (node: Node) => heightOf(node, settings.chainId)
      const known =
        readFinal === undefined ? undefined : { head: await nodes.query(readHead), finalHeight: readFinal }
      // A lagging node may not have a new payment yet. Where nobody reads its block, "unknown" is what no node has.
      return nodes.query(
        (node) => observeTransfer(settings, node, hash, query, known),
        (found) => known !== undefined || !(found.kind === 'pending' && found.reason === 'unknown'),
      )
    },

    confirmationsFor(paid) {
      const blocks = blocksFor(settings.confirmations, paid)
      return blocks === 'final' ? null : blocks
    },

    async checkTransfer(recorded) {
      const { minProviders } = settings
      const check = (node: Node) => checkTransferOnNode(settings, node, recorded)
      return agreeOnTransfer(network, await nodes.queryProviders(check, minProviders), minProviders)
    },

    startingBlock: () => readStartingBlock(settings, nodes),

    async movementsAfter(final, position, limit) {
      const last = position === null ? { ...final, index: undefined } : parsePosition(position)
      const after = last.height < final.height ? { ...final, index: undefined } : last
      // A lagging node may not have the newest blocks, so there is nothing new only when no node has more.
      let unchanged: Awaited<ReturnType<typeof readNew>>
      const newest = await nodes.query(
        async (node) => {
          const page = await readNew(settings, node, final, after, limit)
          if (page?.position === after) unchanged = page
          return page
        },
        (candidate) => candidate !== undefined && candidate.position !== after,
      )
      const page = newest ?? unchanged
      if (page === undefined) return undefined
      const { height, index } = page.position
      // A page can end within a block.
      return {
        ...page,
        position: formatPosition(page.position),
        height: index === undefined ? height : height - 1n,
      }
    },

    finalMovementsAfter: (block) => readFinal(settings, nodes, block),

    async heights() {
      const final = await agreedFinalHeight(settings, nodes)
      return { final, horizon: final, alive: await readSignedUntil(settings, nodes) }
    },

    balanceOf: (address) => readBalance(settings, nodes, address),

    async checkNodes() {
      const checks = await Promise.allSettled(nodes.queryAll((node) => checkNode(settings, node)))
      const faults = checks.flatMap((check) => (check.status === 'fulfilled' ? check.value : []))
      if (faults.length > 0) throw new Error(`${network}: ${faults.join('; ')}`)
      // An unreachable node does not prevent the start, because every later response includes the chain id.
      const failures = checks.flatMap((check) =>
        check.status === 'rejected' ? [check.reason as unknown] : [],
      )
      if (failures.length === checks.length)
        throw unavailable(`No ${network} node can be reached`, new AggregateError(failures))
    },
  }
}
