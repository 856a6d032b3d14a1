import { assert } from '@market/kernel/assert'
import { unavailable } from '@market/kernel/refusal'
import type { Rail, SignedTransfer } from '@market/market/ports/rail'
import type { SolanaTreasurySigner } from '@market/market/ports/signer'
import { address } from '@solana/kit'
import { getTokenSize } from '@solana-program/token'
import { lookPayout } from './look-payout.ts'
import { type SolanaNode, type SolanaNodes, solanaNodes } from './nodes.ts'
import { refusePayee } from './refuse-payee.ts'
import type { SolanaRailSettings } from './settings.ts'
import { feeAt, MICRO_LAMPORTS_PER_UNIT, priceOf, signPayout } from './sign-payout.ts'
import { readTokenAccount, usdcAccountOf, usdcOf } from './token-account.ts'

/** A node that has the bytes already says so as an error. */
const ALREADY_THERE = /already (?:been )?processed/i

const sendTo = async (node: SolanaNode, bytes: string): Promise<void> => {
  try {
    await node.ask({
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'sendTransaction',
        // A simulation could refuse what a later block would take; the outcome is read from the chain alone.
        params: [bytes, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
      },
    })
  } catch (failure) {
    if (!(failure instanceof Error && ALREADY_THERE.test(failure.message))) throw failure
  }
}

/** To every node at once: the same bytes take effect once, however often they arrive. */
const sendToAll = async (nodes: SolanaNodes, { bytes }: SignedTransfer): Promise<void> => {
  const sent = await Promise.allSettled(nodes.each.map((node) => sendTo(node, bytes)))
  if (sent.some(({ status }) => status === 'fulfilled')) return
  const failures = sent.map((result) => (result.status === 'rejected' ? result.reason : undefined))
  throw unavailable('No Solana node took the payment', new AggregateError(failures))
}

/** Moves the treasury's USDC on Solana. */
export const solanaRail = (settings: SolanaRailSettings, signer: SolanaTreasurySigner): Rail => {
  assert(signer.address === settings.treasury, "the signer holds the treasury's key")
  const nodes = solanaNodes(settings)
  const { rpc } = nodes
  const firstPrice = settings.microLamportsPerUnit ?? MICRO_LAMPORTS_PER_UNIT
  const own = new Set([settings.treasury, ...settings.ownAddresses])
  return {
    network: 'solana-mainnet',
    treasury: settings.treasury,
    refusal: (order) => refusePayee(rpc, settings.usdc, own, order.to),
    nonces: async () => null,
    async sign(order, _nonce, before) {
      const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
      const attempt = before.length + 1
      return signPayout(order, signer, {
        mint: settings.usdc,
        attempt,
        microLamportsPerUnit: priceOf(attempt, firstPrice),
        lifetime: value,
      })
    },
    send: (signed) => sendToAll(nodes, signed),
    look: (signed) => lookPayout(nodes, signed),
    async cost(order) {
      const account = await usdcAccountOf(order.to, settings.usdc)
      const fresh = (await readTokenAccount(rpc, account, 'confirmed')) === undefined
      const rent = fresh ? await rpc.getMinimumBalanceForRentExemption(BigInt(getTokenSize())).send() : 0n
      return { native: feeAt(firstPrice) + rent, fresh }
    },
    async nativeBalance() {
      return (await rpc.getBalance(address(settings.treasury), { commitment: 'confirmed' }).send()).value
    },
    usdcBalance: () => usdcOf(rpc, settings.treasury, settings.usdc, 'confirmed'),
  }
}
