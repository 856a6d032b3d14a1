import type { Chain } from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { usdc as money } from '@market/kernel/money'
import { encodeFunctionData, erc20Abi } from 'viem'
import { checkNode } from './check-node.ts'
import { blockAt, evmNodes, readFinalBlock } from './evm-nodes.ts'
import { normalizeHash, observeTransfer } from './find-transfer.ts'
import { formatPosition, parsePosition } from './log-position.ts'
import { word } from './parse-rpc.ts'
import { readIncomingTransfers } from './read-incoming-transfers.ts'
import { readOutgoingTransfers } from './read-outgoing-transfers.ts'
import { callAll, callEach } from './rpc.ts'
import { type EvmSettings, parseAddress } from './settings.ts'

/** Read access to Base or to the third network. */
export const evmChain = (settings: EvmSettings): Chain => {
  const nodes = evmNodes(settings)
  const { network, chainId, treasury, usdc, finalityTag } = settings
  return {
    network,
    treasury,
    usdc,
    normalize: normalizeHash,

    async findTransfer(query) {
      const hash = normalizeHash(query.reference)
      if (hash === undefined) return { kind: 'rejected', reason: 'bad_reference' }
      // A lagging node may not have a new payment yet, so the result is "unknown" only when no node has it.
      return nodes.query(
        (node) => observeTransfer(settings, node, hash, query),
        (found) => !(found.kind === 'pending' && found.reason === 'unknown'),
      )
    },

    async transfersAfter(position, limit) {
      const from = parsePosition(position)
      const page = await nodes.query((node) => readIncomingTransfers(settings, node, from, limit))
      return { transfers: page.transfers, position: formatPosition(page.position) }
    },

    async outgoingTransfersAfter(position, limit) {
      const from = parsePosition(position)
      // A lagging node may not have the newest transfers, so the end is reported only when no node has more.
      const page = await nodes.query(
        (node) => readOutgoingTransfers(settings, node, from, limit),
        (candidate) => candidate.position !== from,
      )
      const reached = formatPosition(page.position)
      const { outgoingTransfers, isEnd } = page
      return { outgoingTransfers, position: reached, ...(page.position !== from && { isEnd }) }
    },

    async heights() {
      const final = await nodes.query(async (node) => {
        const [response] = await callEach(node, chainId, [blockAt(finalityTag)])
        return readFinalBlock(response)?.height ?? -1n
      })
      return { final, horizon: final }
    },

    async balanceOf(address) {
      const owner = parseAddress(address)
      if (owner === undefined) throw new Error(`${address} is not an EVM address`)
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
      return nodes.query(async (node) => {
        const [final, latest] = await callAll(
          node,
          chainId,
          [finalityTag, 'latest'].map((tag) => ['eth_call', { to: usdc, data }, tag]),
        )
        return { final: money(word(final)), latest: money(word(latest)) }
      })
    },

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
