import type { Chain } from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { usdc as money } from '@market/kernel/money'
import { encodeFunctionData, erc20Abi } from 'viem'
import { checkNode } from './check-node.ts'
import { blockAt, evmNodes, readFinalBlock } from './evm-nodes.ts'
import { lookForTransfer, normalizeHash } from './find-transfer.ts'
import { word } from './read-answer.ts'
import { readOutgoingTransfers } from './read-outgoing-transfers.ts'
import { callAll, callEach } from './rpc.ts'
import { type EvmSettings, parseAddress } from './settings.ts'
import { formatPosition, parsePosition } from './watch-position.ts'
import { watchTreasury } from './watch-treasury.ts'

/** Base, or the third network: all that the market asks of an EVM chain without moving anything. */
export const evmChain = (settings: EvmSettings): Chain => {
  const nodes = evmNodes(settings)
  const { network, chainId, treasury, usdc, finalityTag } = settings
  return {
    network,
    treasury,
    usdc,
    normalize: normalizeHash,

    async findTransfer(question) {
      const hash = normalizeHash(question.reference)
      if (hash === undefined) return { kind: 'rejected', reason: 'bad_reference' }
      // A node that lags has not heard of a fresh payment, so "unknown" is said only when no node knows it.
      return nodes.ask(
        (node) => lookForTransfer(settings, node, hash, question),
        (look) => !(look.kind === 'pending' && look.reason === 'unknown'),
      )
    },

    async transfersAfter(position, limit) {
      const from = parsePosition(position)
      const page = await nodes.ask((node) => watchTreasury(settings, node, from, limit))
      return { transfers: page.transfers, position: formatPosition(page.position) }
    },

    async outgoingTransfersAfter(position, limit) {
      const from = parsePosition(position)
      // A node that lags does not know the newest payments, so the end is told only when no node knows more.
      const page = await nodes.ask(
        (node) => readOutgoingTransfers(settings, node, from, limit),
        (one) => one.position !== from,
      )
      const reached = formatPosition(page.position)
      const { outgoingTransfers, isEnd } = page
      return { outgoingTransfers, position: reached, ...(page.position !== from && { isEnd }) }
    },

    async heights() {
      const final = await nodes.ask(async (node) => {
        const [answer] = await callEach(node, chainId, [blockAt(finalityTag)])
        return readFinalBlock(answer)?.height ?? -1n
      })
      return { final, horizon: final }
    },

    async balanceOf(address) {
      const owner = parseAddress(address)
      if (owner === undefined) throw new Error(`${address} is not an EVM address`)
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
      return nodes.ask(async (node) => {
        const [final, latest] = await callAll(
          node,
          chainId,
          [finalityTag, 'latest'].map((tag) => ['eth_call', { to: usdc, data }, tag]),
        )
        return { final: money(word(final)), latest: money(word(latest)) }
      })
    },

    async checkNodes() {
      const checks = await Promise.allSettled(nodes.askEach((node) => checkNode(settings, node)))
      const faults = checks.flatMap((check) => (check.status === 'fulfilled' ? check.value : []))
      if (faults.length > 0) throw new Error(`${network}: ${faults.join('; ')}`)
      // A node that is away for the moment does not keep us from starting; every later answer names its chain.
      const failures = checks.flatMap((check) =>
        check.status === 'rejected' ? [check.reason as unknown] : [],
      )
      if (failures.length === checks.length)
        throw unavailable(`No node of ${network} answers`, new AggregateError(failures))
    },
  }
}
