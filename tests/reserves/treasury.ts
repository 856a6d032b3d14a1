import { evmChain } from '@market/chains/evm/evm-chain'
import { type EvmPayoutSenderSettings, evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { localEvmSigner } from '@market/chains/local-signers'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Db } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import { escrow, fees, post } from '@market/money/ledger'
import { claimTransfer, findPayment, parsePurpose, recheckTransfers } from '@market/money/payments'
import { advancePayout, type Payout, requestPayout, submitPayouts } from '@market/money/payouts'
import { takeReserveSnapshot } from '@market/reserves/snapshots'
import { testClock } from '@market/testing/clock'
import type { EvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import { PURPOSES } from '@market/worker/payment-handlers'
import type { Hex } from 'viem'
import { FINALITY, newAccount, question, settingsFor } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { ACCEPTING_KINDS } from '../support/payout-kinds.ts'
import { NO_FEE_ADDRESSES } from '../support/payout-ledger.ts'

export const NETWORK = 'base-mainnet'
const CAPS = {
  gasBudget: {},
  accountMinimum: usdc(0n),
  perPayout: usdc(10n ** 12n),
  perPayee: usdc(10n ** 12n),
  perDay: usdc(10n ** 12n),
  cost: {},
}

type Payer = ReturnType<typeof newAccount>

/** Every batch that a node accepted is in a block: the node answers a moment before it has made one. */
const withIncluded = (network: EvmNetwork, sender: PayoutSender): PayoutSender => {
  const { batches } = sender
  if (batches === undefined) throw new Error('there are no gas accounts')
  const send: typeof batches.send = async (batch) => {
    await batches.send(batch)
    await network.included(batch.reference as Hex)
  }
  return { ...sender, batches: { ...batches, send } }
}

/** A treasury on a real chain with its ledger: payments, payouts and snapshots. */
export async function openTreasury(
  db: Db,
  network: EvmNetwork,
  rpcUrl = network.url,
  changes: Partial<EvmPayoutSenderSettings> = {},
  feeAddresses: readonly string[] = [],
) {
  const account = newAccount()
  await network.fund(account.address)
  const settings = settingsFor(network, account.address, {
    rpcUrls: [rpcUrl],
    cooldownMs: 0,
    ...changes,
  })
  const clock = testClock(new Date())
  const chain = evmChain(settings)
  const ctx = { ...marketContext({ db, clock }), chains: { [NETWORK]: chain } }
  const gas = [newAccount(), newAccount()]
  for (const { address } of gas) await network.fund(address)
  const gasSigners = gas.map(({ key }) => localEvmSigner(key))
  const sender = withIncluded(network, evmPayoutSender(settings, localEvmSigner(account.key), gasSigners))
  const payouts = {
    ...{ ...ctx, payoutSenders: { [NETWORK]: sender }, payoutKinds: ACCEPTING_KINDS },
    ...{ caps: CAPS, feeAddresses: { ...NO_FEE_ADDRESSES, [NETWORK]: feeAddresses }, screenings: [] },
  }
  await follow(ctx, NETWORK)
  let purposes = 0
  let submitted: Promise<void> = Promise.resolve()

  const claim = async (reference: string, purpose: string, due: bigint, payers?: readonly string[]) => {
    const seen = await findPayment(ctx, NETWORK, question(reference, payers && { payers }))
    if (seen === undefined) throw new Error('not seen')
    const claimed = await ctx.transact((tx) =>
      claimTransfer(ctx, tx, { network: NETWORK, seen, purpose: parsePurpose(purpose), due: usdc(due) }),
    )
    // As the worker does at its next sweep: a transfer that is final on the chain becomes final.
    await follow(ctx, NETWORK)
    await recheckTransfers(ctx, PURPOSES)
    return claimed
  }

  return {
    ctx,
    chain,
    clock,
    account,
    sender,
    settings,
    claim,
    watch: () => follow(ctx, NETWORK),
    somePurpose: () => `order:${purposes++}`,
    /** Pays into the treasury and claims the final transfer for a purpose, or leaves it unclaimed. */
    async payIn(from: Payer, amount: bigint, wanted?: { purpose: string; due: bigint }): Promise<string> {
      const reference = await network.transfer(from, account.address, amount)
      await network.mine(FINALITY)
      if (wanted === undefined) await follow(ctx, NETWORK)
      else await claim(reference, wanted.purpose, wanted.due)
      return reference
    },
    /** Requests a payout from the escrow of a purpose. */
    requestPayout: (
      purpose: string,
      amount: bigint,
      payee: string,
      waitsForPayment = false,
    ): Promise<Payout> =>
      ctx.transact((tx) =>
        requestPayout(ctx, tx, {
          network: NETWORK,
          kind: 'payout',
          subject: purpose,
          payee,
          amount: usdc(amount),
          from: escrow(NETWORK, purpose),
          ...(waitsForPayment && { purpose: parsePurpose(purpose) }),
        }),
      ),
    /** As the worker does: does the next step and sends what is signed, one batch after another. */
    advance: async ({ id }: Payout) => {
      const next = await advancePayout(payouts, id)
      submitted = submitted.catch(() => {}).then(() => submitPayouts(payouts, sender))
      await submitted
      return next
    },
    /** Moves a fee from the escrow of a purpose. */
    earn: (purpose: string, amount: bigint) =>
      ctx.transact((tx) =>
        post(ctx, tx, {
          key: `fee:${purpose}`,
          reason: 'test.fee',
          subject: purpose,
          network: NETWORK,
          moves: [{ from: escrow(NETWORK, purpose), to: fees(NETWORK), amount: usdc(amount) }],
        }),
      ),
    /** Of the chain as it is now. Advances the clock first, so that snapshots have different times. */
    async takeSnapshot(withProof = false) {
      clock.advance(1_000)
      await follow(ctx, NETWORK)
      const snapshot = await takeReserveSnapshot(ctx, NETWORK, { withProof })
      if (snapshot === undefined) throw new Error('another worker took the snapshot')
      return snapshot
    },
    payoutGuard: () =>
      db
        .selectFrom('payout_guards')
        .select(['short_micros', 'short_since'])
        .where('network', '=', NETWORK)
        .executeTakeFirstOrThrow(),
    leavesOf: (snapshotId: string) =>
      db
        .selectFrom('reserve_leaves')
        .select(['account_id', 'holder', 'amount_micros'])
        .where('snapshot_id', '=', snapshotId)
        .orderBy('account_id')
        .execute(),
  }
}

export type Treasury = Awaited<ReturnType<typeof openTreasury>>
