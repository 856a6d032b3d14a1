import { SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { balanceOf, escrow, fees, post, totals } from '@market/money/ledger'
import { advancePayout, type Payout, writeOffTransfer } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address, Hex } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import {
  FLOAT,
  fundedTreasury,
  NETWORK,
  type PayoutLedger,
  senderFor,
  startPayoutLedger,
} from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

/** The ledger as they went on, and those that were restored from before all that. */
let ledger: PayoutLedger
let restored: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  ledger = await startPayoutLedger(chain)
  restored = await startPayoutLedger(chain, { treasury: ledger.account, compared: false })
  return async () => {
    await ledger.stop()
    await restored.stop()
  }
})

const wanted = ({ subject, payee, amount }: Payout) => ({ subject, payee, amount })

/** Sent, and in a block: the node answers a moment before it has made one. */
const send = async (payout: Payout) => {
  await ledger.advance(payout)
  await chain.mine(1)
}

/** The transaction that an account of the ledger submitted last. */
const minedReference = async () =>
  (await ledger.ctx.db.selectFrom('payout_batches').select('reference').executeTakeFirstOrThrow())
    .reference ?? ''

const payFinally = async (payout: Payout) => {
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('final')
}

test('lost payout: requested again, it is recovered from the chain and not paid twice', async () => {
  const lost = await ledger.request()
  await payFinally(lost)
  const again = await restored.request(wanted(lost))
  expect(again.id).toBe(lost.id)
  await restored.compare()
  expect(await restored.advance(again)).toBe(SECOND)
  expect(await restored.signaturesOf(again)).toEqual([])
  await restored.advance(again)
  const { final_reference } = await ledger.rowOf(lost)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'final', final_reference })
  expect(await restored.holds(again)).toBe(5_000_000n)
  expect((await totals(restored.ctx.db, NETWORK)).treasuryView).toBe(FLOAT - 5_000_000n)
})

test('lost payout: a transfer that is not final is recovered, and settled once final', async () => {
  const lost = await ledger.request()
  await send(lost)
  const again = await restored.request(wanted(lost))
  await restored.compare()
  await restored.advance(again)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('signed')
  await chain.mine(FINALITY)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
  expect(await restored.count()).toBe(1)
})

test('lost payout that nobody has mined: both databases submit it, and the chain pays it once', async () => {
  await chain.automine(false)
  const lost = await ledger.request()
  await ledger.advance(lost)
  await restored.compare()
  const again = await restored.request(wanted(lost))
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'signed' })
  await chain.mine(FINALITY)
  for (const one of [ledger, restored]) await one.advance(lost)
  expect((await restored.rowOf(again)).state).toBe('final')
  expect((await ledger.rowOf(lost)).state).toBe('final')
  expect(await restored.holds(again)).toBe(5_000_000n)
  expect(await restored.count()).toBe(1)
})

test('recovered payout: dropped by a reorganization, it is signed and paid once', async () => {
  const lost = await ledger.request()
  await chain.automine(false)
  await ledger.advance(lost)
  await chain.mine(1)
  const again = await restored.request(wanted(lost))
  await restored.compare()
  await restored.advance(again)
  await chain.reorg(1)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.mine(2)
  await restored.advance(again)
  expect(await restored.signaturesOf(again)).toHaveLength(1)
  await chain.mine(FINALITY)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
  expect(await restored.holds(again)).toBe(5_000_000n)
})

test('recovered payout: dropped by a reorganization and its payee denied, it does not fail while it may be paid', async () => {
  const lost = await ledger.request()
  await chain.automine(false)
  await ledger.advance(lost)
  await chain.mine(1)
  const again = await restored.request(wanted(lost))
  await restored.compare()
  await restored.advance(again)
  await chain.reorg(1)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.automine(true)
  await chain.deny(again.payee as Address, true)
  await restored.compare()
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('signed')
  await chain.deny(again.payee as Address, false)
  const [authorization] = await ledger.signaturesOf(lost)
  await chain.call(ledger.account.gas[1], chain.usdc, authorization?.bytes as Hex)
  await chain.mine(FINALITY)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
  expect(await restored.holds(again)).toBe(5_000_000n)
})

test('lost payout: recovered during a freeze and during a shortage', async () => {
  const lost = await ledger.request()
  await payFinally(lost)
  const again = await restored.request(wanted(lost))
  await restored.compare()
  await restored.freeze(true)
  await restored.shortBy(5_000_000n)
  await restored.advance(again)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
})

test('restored database without the signature: settles by what was executed', async () => {
  await chain.automine(false)
  const payout = await ledger.request()
  await ledger.advance(payout)
  await ledger.ctx.db.deleteFrom('payout_signatures').execute()
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('final')
  expect(await ledger.count()).toBe(1)
})

test.for([
  ['another amount', { amount: usdc(5_000_001n) }],
  ['another payee', { payee: newAccount().address }],
])('transfer with %s: not recovered, and the payout is held for the operator', async ([, change]) => {
  const lost = await ledger.request()
  await payFinally(lost)
  const again = await restored.request({ ...wanted(lost), ...(change as object) })
  await restored.compare()
  expect(await restored.advance(again)).toBe(30 * SECOND)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'held', hold_code: 'transfer_mismatch' })
  expect(await restored.count()).toBe(1)
})

test('signed with other terms than the lost one, which is mined: held for the operator, and paid once', async () => {
  await chain.automine(false)
  const lost = await ledger.request()
  await ledger.advance(lost)
  await restored.compare()
  const again = await restored.request({ ...wanted(lost), payee: newAccount().address })
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('signed')
  await chain.mine(FINALITY)
  expect(await restored.count()).toBe(1)
  const paid = (await restored.holds(again)) === 0n ? lost : again
  await restored.advance(again)
  const { state, hold_code } = await restored.rowOf(again)
  expect(paid === lost ? hold_code : state).toBe(paid === lost ? 'transfer_mismatch' : 'final')
})

test.for([
  ['before', 0],
  ['after', 31 * 60],
] as const)(
  'signed, and its mark was used for other terms: written off %s it expires, it is paid with another mark',
  async ([, seconds]) => {
    const lost = await ledger.request()
    await restored.compare()
    const again = await restored.request({ ...wanted(lost), payee: newAccount().address })
    await advancePayout(restored.app, again.id)
    await ledger.advance(lost)
    await chain.rpc('evm_increaseTime', [seconds])
    await chain.mine(FINALITY)
    await restored.advance(again)
    expect(await restored.rowOf(again)).toMatchObject({ state: 'signed', hold_code: 'transfer_mismatch' })
    await earn(6_000_000n)
    const reference = await minedReference()
    await restored.ctx.transact((tx) =>
      writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference, index: 0 }),
    )
    for (let step = 0; step < 3; step++) {
      await restored.advance(again)
      await chain.mine(FINALITY)
    }
    expect(await restored.rowOf(again)).toMatchObject({ state: 'final', mark_round: 2 })
    expect(await restored.holds(again)).toBe(5_000_000n)
  },
)

test('a transfer of the treasury without an authorization: belongs to no payout, and stops none', async () => {
  await restored.compare()
  await chain.fund(ledger.account.address)
  await chain.transfer(ledger.account, newAccount().address, 1n)
  const payout = await restored.request({ subject: 'another order' })
  await restored.advance(payout)
  expect((await restored.rowOf(payout)).state).toBe('signed')
  expect((await restored.outgoingTransfers())[0]).toMatchObject({ mark: null, amount_micros: 1n })
})

test('another treasury of the same network: signs nothing, because it could pay again', async () => {
  await ledger.advance(await ledger.request())
  const treasury = await fundedTreasury(chain)
  const changed = { ...ledger.app, payoutSenders: { [NETWORK]: senderFor(chain, treasury) } }
  const payout = await ledger.request()
  await expect(advancePayout(changed, payout.id)).rejects.toThrow(/is paid from 0x/)
  expect(await ledger.signaturesOf(payout)).toEqual([])
  await advancePayout(ledger.app, payout.id)
  await chain.rpc('evm_increaseTime', [21 * 60])
  await chain.mine(1)
  await expect(advancePayout(changed, payout.id)).rejects.toThrow(/is paid from 0x/)
  expect(await ledger.signaturesOf(payout)).toHaveLength(1)
})

const earn = async (micros: bigint) => {
  const { ctx } = restored
  const moves = [{ from: escrow(NETWORK, 'float'), to: fees(NETWORK), amount: usdc(micros) }]
  await ctx.transact((tx) =>
    post(ctx, tx, {
      key: `earned:${micros}`,
      reason: 'earned',
      subject: `s${micros}`,
      network: NETWORK,
      moves,
    }),
  )
}

test('write-off: a lost payout is charged to the fees, and reversed when the payout is requested again', async () => {
  const lost = await ledger.request()
  await send(lost)
  const reference = await minedReference()
  const book = () =>
    restored.ctx.transact((tx) =>
      writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference, index: 0 }),
    )
  await expect(book()).rejects.toMatchObject({ kind: 'not_found' })
  await restored.compare()
  await expect(book()).rejects.toThrow('not final yet')
  await chain.mine(FINALITY)
  await restored.compare()
  // Spread over two stripes, and not enough in either.
  await earn(2_000_000n)
  await expect(book()).rejects.toThrow('do not cover')
  await earn(4_000_000n)
  await book()
  await book()
  expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(1_000_000n)
  const afterLoss = await totals(restored.ctx.db, NETWORK)
  expect(afterLoss).toMatchObject({ treasuryView: FLOAT - 5_000_000n, imbalance: 0n })

  const again = await restored.request(wanted(lost))
  await restored.advance(again)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
  expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(6_000_000n)
  expect(await totals(restored.ctx.db, NETWORK)).toMatchObject({
    treasuryView: FLOAT - 5_000_000n,
    imbalance: 0n,
    liabilities: { payable: 0n },
  })
})

test.for([
  ['another amount', { amount: usdc(4_000_000n) }],
  ['another payee', { payee: newAccount().address }],
])(
  'write-off: a transfer with %s is charged to the fees, and the held payout continues',
  async ([, change]) => {
    const lost = await ledger.request()
    await payFinally(lost)
    const again = await restored.request({ ...wanted(lost), ...(change as object) })
    await restored.compare()
    await restored.advance(again)
    expect((await restored.rowOf(again)).hold_code).toBe('transfer_mismatch')
    await earn(6_000_000n)
    const before = await restored.holds(again)
    const reference = (await ledger.rowOf(lost)).final_reference ?? ''
    await restored.ctx.transact((tx) =>
      writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference, index: 0 }),
    )
    expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(1_000_000n)
    await restored.advance(again)
    await restored.advance(again)
    expect(await restored.rowOf(again)).toMatchObject({ state: 'signed', mark_round: 2 })
    await chain.mine(FINALITY)
    await restored.compare()
    await restored.advance(again)
    expect((await restored.rowOf(again)).state).toBe('final')
    expect(await restored.holds(again)).toBe(before + again.amount)
    const { treasuryView, imbalance, liabilities } = await totals(restored.ctx.db, NETWORK)
    expect({ imbalance, payable: liabilities.payable }).toEqual({ imbalance: 0n, payable: 0n })
    expect(await chain.balanceOf(ledger.account.address)).toBe(treasuryView)
  },
)

test('write-off: does not hide another transfer that paid the payout', async () => {
  const lost = await ledger.request()
  await payFinally(lost)
  const strange = { ...wanted(lost), amount: usdc(4_000_000n) }
  // A database that was lost too: it wrote the first transfer off, and paid with the next mark.
  const other = await startPayoutLedger(chain, { treasury: ledger.account })
  try {
    const again = await other.request(strange)
    await other.ctx.db.updateTable('payouts').set({ mark_round: 2 }).execute()
    await other.ctx.db.deleteFrom('outgoing_transfers').execute()
    await advancePayout(other.app, again.id)
    await other.submit()
    await chain.mine(1)
    expect(await other.count()).toBe(2)
  } finally {
    await other.stop()
  }
  const again = await restored.request(strange)
  await restored.compare()
  await earn(6_000_000n)
  const reference = (await ledger.rowOf(lost)).final_reference ?? ''
  await restored.ctx.transact((tx) =>
    writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference, index: 0 }),
  )
  for (let step = 0; step < 3; step++) await restored.advance(again)
  await chain.mine(FINALITY)
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'final', mark_round: 2 })
  expect(await restored.count()).toBe(2)
})

test('write-off: rejected for a transfer whose payout is known', async () => {
  const payout = await ledger.request()
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.compare()
  const reference = await minedReference()
  const booking = ledger.ctx.transact((tx) =>
    writeOffTransfer(ledger.ctx, tx, { network: NETWORK, reference, index: 0 }),
  )
  await expect(booking).rejects.toThrow(`This payment belongs to payout ${payout.id}`)
})
