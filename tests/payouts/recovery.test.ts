import { MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { balanceOf, escrow, fees, post, totals } from '@market/money/ledger'
import { type Payout, writeOffTransfer } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import {
  FLOAT,
  fundedTreasury,
  NETWORK,
  type PayoutLedger,
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
  const [signature] = await ledger.signaturesOf(lost)
  expect(await restored.signaturesOf(again)).toMatchObject([
    { reference: signature?.reference, bytes: '', nonce: 0n },
  ])
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({
    state: 'final',
    final_reference: signature?.reference,
    nonce: 0n,
  })
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
  await restored.compare()
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
  expect(await restored.count()).toBe(1n)
})

test('recovered payout: dropped by a reorganization, it is paid once at its nonce', async () => {
  const lost = await ledger.request()
  await chain.automine(false)
  await ledger.advance(lost)
  await chain.mine(1)
  const again = await restored.request(wanted(lost))
  await restored.compare()
  await restored.advance(again)
  await chain.reorg(1)
  await chain.mine(2)
  restored.ctx.clock.advance(2 * MINUTE)
  await restored.compare()
  await restored.advance(again)
  expect((await restored.signaturesOf(again)).map(({ nonce }) => nonce)).toEqual([0n, 0n])
  await chain.mine(FINALITY)
  await restored.compare()
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

test('restored database with an older signature: settles by the signature that was executed', async () => {
  await chain.automine(false)
  const payout = await ledger.request()
  await ledger.advance(payout)
  await chain.rpc('anvil_dropAllTransactions')
  ledger.ctx.clock.advance(MINUTE + SECOND)
  await ledger.advance(payout)
  const [, newest] = await ledger.signaturesOf(payout)
  await ledger.ctx.db.deleteFrom('payout_signatures').where('n', '=', 2).execute()
  await chain.mine(FINALITY)
  await ledger.compare()
  await ledger.advance(payout)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', final_reference: newest?.reference })
})

test('restored database with a nonce and no signature: recovers the executed transfer', async () => {
  const payout = await ledger.request()
  await send(payout)
  const [signature] = await ledger.signaturesOf(payout)
  await ledger.ctx.db.deleteFrom('payout_signatures').execute()
  await ledger.restoreState(payout, 'nonce_assigned')
  await ledger.compare()
  await ledger.advance(payout)
  expect(await ledger.signaturesOf(payout)).toMatchObject([{ reference: signature?.reference, bytes: '' }])
  expect(await ledger.count()).toBe(1n)
})

test.for([
  ['another amount', { amount: usdc(5_000_001n) }],
  ['another payee', { payee: newAccount().address }],
])('transfer with %s: not recovered, and payouts are held for the operator', async ([, change]) => {
  const lost = await ledger.request()
  await payFinally(lost)
  const again = await restored.request({ ...wanted(lost), ...(change as object) })
  await restored.compare()
  expect(await restored.advance(again)).toBe(30 * SECOND)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'held', nonce: null })
  expect((await restored.rowOf(again)).hold_code).toBe('transfer_mismatch')
  expect(await restored.count()).toBe(1n)
})

test('nonces of lost payouts: skipped, the next payout gets the nonce after them', async () => {
  const [first, second] = [await ledger.request(), await ledger.request()]
  for (const payout of [first, second]) await send(payout)
  const other = await restored.request({ subject: 'another order' })
  await restored.compare()
  await restored.advance(other)
  expect(await restored.rowOf(other)).toMatchObject({ state: 'signed', nonce: 2n })
  for (const lost of [first, second]) {
    const again = await restored.request(wanted(lost))
    await restored.advance(again)
  }
  const rows = await restored.ctx.db.selectFrom('payouts').select('nonce').orderBy('nonce').execute()
  expect(rows.map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n])
})

test('unknown pending transaction of the treasury: holds payouts', async () => {
  await restored.compare()
  const known = await restored.request({ subject: 'the first order' })
  await restored.advance(known)
  await chain.automine(false)
  await chain.transfer(ledger.account, newAccount().address, 1n)
  const other = await restored.request({ subject: 'another order' })
  await restored.advance(other)
  expect((await restored.rowOf(other)).hold_detail).toBe('2 on the chain, 1 in the ledger')
})

test('no nonce counter and a lost payout pending: payouts are held, and it is recovered once mined', async () => {
  await chain.automine(false)
  const lost = await ledger.request()
  await ledger.advance(lost)
  await restored.compare()
  const again = await restored.request(wanted(lost))
  expect(await restored.advance(again)).toBe(30 * SECOND)
  const held = {
    state: 'held',
    nonce: null,
    hold_code: 'nonce_mismatch',
    hold_detail: '1 on the chain, 0 in the ledger',
  }
  expect(await restored.rowOf(again)).toMatchObject(held)
  await chain.mine(1)
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject(held)
  await restored.compare()
  await restored.advance(again)
  await chain.mine(FINALITY)
  await restored.compare()
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'final', nonce: 0n })
  expect(await restored.holds(again)).toBe(5_000_000n)
  expect(await restored.count()).toBe(1n)
})

test('no nonce counter: assigns no nonce before the final transfers were read', async () => {
  await chain.automine(false)
  const lost = await ledger.request()
  await ledger.advance(lost)
  await restored.compare()
  await chain.mine(FINALITY)
  const again = await restored.request(wanted(lost))
  for (let step = 0; step < 3; step++) {
    expect(await restored.advance(again)).toBe(2 * SECOND)
    restored.ctx.clock.advance(MINUTE)
  }
  expect(await restored.rowOf(again)).toMatchObject({
    state: 'held',
    nonce: null,
    hold_code: 'history_unread',
    hold_detail: '1 final',
  })
  await restored.compare()
  await restored.advance(again)
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'final', nonce: 0n })
  expect(await restored.count()).toBe(1n)
})

test('treasury with earlier transactions: pays once those are final and read', async () => {
  const account = await fundedTreasury(chain)
  // One that moves USDC and one that does not.
  await chain.transfer(account, newAccount().address, 1n)
  await chain.call(account, newAccount().address, '0x')
  const fresh = await startPayoutLedger(chain, { treasury: account })
  try {
    const [first, second] = [await fresh.request(), await fresh.request()]
    expect(await fresh.advance(first)).toBe(30 * SECOND)
    expect((await fresh.rowOf(first)).hold_detail).toBe('2 on the chain, 0 in the ledger')
    await chain.mine(FINALITY)
    expect(await fresh.advance(first)).toBe(2 * SECOND)
    await fresh.compare()
    await fresh.advance(first)
    expect(await fresh.rowOf(first)).toMatchObject({ state: 'signed', nonce: 2n })
    await fresh.advance(second)
    expect(await fresh.rowOf(second)).toMatchObject({ state: 'signed', nonce: 3n })
    await chain.mine(1)
    expect([await fresh.holds(first), await fresh.holds(second)]).toEqual([5_000_000n, 5_000_000n])
  } finally {
    await fresh.stop()
  }
})

/** A lost payout and another one have the same nonce, and the chain executes the lost one. */
const displace = async () => {
  await chain.automine(false)
  const lost = await ledger.request()
  await ledger.advance(lost)
  const [signature] = await ledger.signaturesOf(lost)
  await chain.rpc('anvil_dropAllTransactions')
  await restored.compare()
  const other = await restored.request({ subject: 'another order' })
  await restored.advance(other)
  expect(await restored.rowOf(other)).toMatchObject({ state: 'signed', nonce: 0n })
  await chain.rpc('anvil_dropAllTransactions')
  await chain.rpc('eth_sendRawTransaction', [signature?.bytes])
  await chain.mine(FINALITY)
  return { lost, other }
}

test('nonce used by another transaction: the payout gets another nonce once all outgoing transfers are known', async () => {
  const { lost, other } = await displace()
  await chain.automine(true)
  for (let step = 0; step < 3; step++) await restored.advance(other)
  expect(await restored.rowOf(other)).toMatchObject({ state: 'signed', round: 1 })
  await restored.compare()
  await restored.advance(other)
  expect(await restored.rowOf(other)).toMatchObject({ state: 'queued', round: 2, nonce: null })
  await restored.advance(other)
  expect(await restored.rowOf(other)).toMatchObject({ state: 'signed', round: 2, nonce: 1n })
  const again = await restored.request(wanted(lost))
  await restored.advance(again)
  await chain.mine(FINALITY)
  for (const payout of [other, again]) await restored.advance(payout)
  expect([await restored.rowOf(other), await restored.rowOf(again)]).toMatchObject([
    { state: 'final', nonce: 1n },
    { state: 'final', nonce: 0n },
  ])
  expect([await restored.holds(other), await restored.holds(again)]).toEqual([5_000_000n, 5_000_000n])
})

test('lost payout: waits until the payout that holds its nonce gets another one', async () => {
  const { lost, other } = await displace()
  await chain.automine(true)
  const again = await restored.request(wanted(lost))
  await restored.compare()
  expect(await restored.advance(again)).toBe(2 * SECOND)
  expect((await restored.rowOf(again)).state).toBe('held')
  await restored.advance(other)
  await restored.compare()
  await restored.advance(other)
  await restored.advance(again)
  await restored.advance(again)
  expect((await restored.rowOf(again)).state).toBe('final')
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
  const [signature] = await ledger.signaturesOf(lost)
  const book = () =>
    restored.ctx.transact((tx) =>
      writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference: signature?.reference ?? '' }),
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
    await restored.ctx.transact((tx) => writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference }))
    expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(1_000_000n)
    await restored.advance(again)
    expect(await restored.rowOf(again)).toMatchObject({ state: 'signed', nonce: 1n })
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
  const again = await restored.request(strange)
  await restored.compare()
  await earn(6_000_000n)
  const reference = (await ledger.rowOf(lost)).final_reference ?? ''
  await restored.ctx.transact((tx) => writeOffTransfer(restored.ctx, tx, { network: NETWORK, reference }))
  // A second lost ledger of the same treasury paid the payout.
  const other = await startPayoutLedger(chain, { treasury: ledger.account })
  try {
    await other.ctx.db
      .insertInto('payout_nonces')
      .values({ network: NETWORK, treasury: ledger.account.address, next_nonce: 1n })
      .execute()
    await other.ctx.db.deleteFrom('outgoing_transfers').execute()
    await other.advance(await other.request(strange))
    await chain.mine(1)
    expect(await other.count()).toBe(2n)
  } finally {
    await other.stop()
  }
  await restored.compare()
  await restored.advance(again)
  await chain.mine(FINALITY)
  await restored.compare()
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'final', nonce: 1n })
  expect(await restored.count()).toBe(2n)
})

test('write-off: rejected for a transfer whose payout is known', async () => {
  const payout = await ledger.request()
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.compare()
  const [signature] = await ledger.signaturesOf(payout)
  const booking = ledger.ctx.transact((tx) =>
    writeOffTransfer(ledger.ctx, tx, { network: NETWORK, reference: signature?.reference ?? '' }),
  )
  await expect(booking).rejects.toThrow(`This payment belongs to payout ${payout.id}`)
})
