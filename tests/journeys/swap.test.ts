import { createNoopSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getApproveInstruction } from '@solana-program/token'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rejected } from '../support/rejected.ts'
import { honestOut, type MakerBehavior } from '../support/swap-maker.ts'
import { tokenAccountOf, withSignature } from '../support/swap-transactions.ts'
import { AMOUNT, type SwapMarket, startSwapMarket, type Taker } from '../support/swaps.ts'
import { until } from '../support/until.ts'

/** Two signatures and 60,000 units at 1,000 micro-lamports. */
const FEE = 10_060n

let swaps: SwapMarket
let taker: Taker
beforeAll(async () => {
  swaps = await startSwapMarket()
})
afterAll(() => swaps.stop())
afterEach(() => swaps.maker.behave())

const balances = async () => ({
  taker: await swaps.balancesOf(taker),
  maker: await swaps.balancesOf({ wallet: swaps.maker.wallet() }),
})

async function newTaker(): Promise<void> {
  taker = await swaps.makeTaker()
}

/** Repeats the request until the status is final. */
async function finalStatus(order_id: string, signed: string): Promise<string> {
  let status = 'pending'
  await until(`${order_id} has a final status`, async () => {
    const reply = await swaps.execute(taker, order_id, signed)
    expect(reply.status).toBe(200)
    status = reply.body.data.status
    return status !== 'pending'
  })
  return status
}

test.each([false, true])(
  'swap: moves exactly the ordered amounts (the maker pays the fee: %s)',
  async (paysFee) => {
    await newTaker()
    swaps.maker.behave({ paysFee })
    const before = await balances()
    const { order_id, signed } = await swaps.orderAndSign(taker)
    expect(await balances()).toEqual(before)

    const { status, body } = await swaps.execute(taker, order_id, signed)
    expect([status, body.data.status]).toEqual([200, 'confirmed'])
    const out = honestOut(AMOUNT)
    const [takerFee, makerFee] = paysFee ? [0n, FEE] : [FEE, 0n]
    expect(await balances()).toEqual({
      taker: { usdc: before.taker.usdc - AMOUNT, lamports: before.taker.lamports + out - takerFee },
      maker: { usdc: before.maker.usdc + AMOUNT, lamports: before.maker.lamports - out - makerFee },
    })
    const transaction = (await swaps.world.chain.call('getTransaction', body.data.tx_signature, {
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })) as { meta: { err: unknown } }
    expect(transaction.meta.err).toBeNull()
  },
)

const LIES: readonly (readonly [what: string, flaw: string, behavior: MakerBehavior])[] = [
  [
    'takes more USDC than ordered',
    'payment_amount',
    { fill: (parts) => ({ ...parts, amount: parts.amount * 2n }) },
  ],
  [
    'gives less SOL than quoted',
    'output_too_low',
    { fill: (parts) => ({ ...parts, lamports: parts.lamports / 2n }) },
  ],
  [
    'sends the SOL to itself',
    'output_recipient',
    {
      instructions: async (parts, maker) => [
        parts.payment,
        getTransferSolInstruction({ source: maker, destination: maker.address, amount: 1n }),
      ],
    },
  ],
  ['gives nothing', 'no_output', { instructions: async ({ open, payment }) => [open, payment] }],
  [
    'wants the right to take more later',
    'token_approve',
    {
      instructions: async (parts, maker) => [
        ...Object.values(parts),
        getApproveInstruction({
          source: await tokenAccountOf(taker.wallet.address, swaps.world.usdc.mint),
          delegate: maker.address,
          owner: createNoopSigner(taker.wallet.address),
          amount: 1_000_000_000n,
        }),
      ],
    },
  ],
  [
    'did not sign',
    'maker_signature',
    { finish: (transaction, maker) => withSignature(transaction, maker.address, null) },
  ],
]

describe('swap: a venue that lies about an order is rejected with 503, and nothing moves', () => {
  test.each(LIES)('it %s (%s)', async (_what, flaw, behavior) => {
    await newTaker()
    const before = await balances()
    swaps.maker.behave(behavior)
    const reply = await swaps.order(taker)
    rejected(reply, 503, 'swap_rejected')
    expect(reply.body.error).toContain(`(${flaw})`)
    expect(await balances()).toEqual(before)
    // The operator sees it.
    expect(swaps.market.logText()).toContain(`transaction was rejected: ${flaw}`)
  })
})

describe('swap: the chain decides the outcome', () => {
  test('failed, when the venue claims success and sends nothing; nothing moves', async () => {
    await newTaker()
    const before = await balances()
    swaps.maker.behave({
      onExecute: async (_, response) => {
        response.end(JSON.stringify({ status: 'Success', signature: '1'.repeat(64) }))
      },
    })
    const { order_id, signed } = await swaps.orderAndSign(taker)
    const submitted = swaps.maker.executions.length
    const { body } = await swaps.execute(taker, order_id, signed)
    expect(body.data.tx_signature).not.toBe('1'.repeat(64))
    expect(await finalStatus(order_id, signed)).toBe('failed')
    expect(await balances()).toEqual(before)
    expect(swaps.maker.executions).toHaveLength(submitted + 1)
  })

  test.each([
    ['fails after it sent the transaction', (end: { destroy: () => unknown }) => end.destroy()],
    [
      'claims that it failed',
      (end: { end: (text: string) => unknown }) => end.end(JSON.stringify({ status: 'Failed' })),
    ],
  ])('confirmed, when the venue %s', async (_what, respond) => {
    await newTaker()
    const before = await balances()
    swaps.maker.behave({
      onExecute: async (send, response) => {
        await send()
        respond(response)
      },
    })
    const { order_id, signed } = await swaps.orderAndSign(taker)
    expect(await finalStatus(order_id, signed)).toBe('confirmed')
    expect((await balances()).taker.usdc).toBe(before.taker.usdc - AMOUNT)
  })

  test('failed, when the wallet no longer holds the USDC', async () => {
    await newTaker()
    const { order_id, signed } = await swaps.orderAndSign(taker)
    await swaps.world.usdc.fund(taker.wallet.address, AMOUNT - 1n)
    const before = await balances()
    expect(await finalStatus(order_id, signed)).toBe('failed')
    const after = await balances()
    expect(after.taker.usdc).toBe(before.taker.usdc)
    expect(after.maker).toEqual(before.maker)
  })
})

test('swap: concurrent requests submit it once and agree on its signature', async () => {
  await newTaker()
  const before = await balances()
  const { order_id, signed } = await swaps.orderAndSign(taker)
  const submitted = swaps.maker.executions.length
  const replies = await Promise.all(Array.from({ length: 6 }, () => swaps.execute(taker, order_id, signed)))
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
  expect(new Set(replies.map(({ body }) => body.data.tx_signature)).size).toBe(1)
  expect(await finalStatus(order_id, signed)).toBe('confirmed')
  expect(swaps.maker.executions).toHaveLength(submitted + 1)
  expect((await balances()).taker.usdc).toBe(before.taker.usdc - AMOUNT)
})

test('swap: a deleted account leaves no swap behind', async () => {
  await newTaker()
  const { order_id, signed } = await swaps.orderAndSign(taker)
  expect(await finalStatus(order_id, signed)).toBe('confirmed')
  const reply = await swaps.market.client().send('DELETE', '/api/profile', { bearer: taker.bearer })
  expect(reply.status).toBe(200)
  const rows = await swaps.market.db
    .selectFrom('swap_orders')
    .select('id')
    .where('user_id', '=', taker.userId)
    .execute()
  expect(rows).toEqual([])
  rejected(await swaps.execute(taker, order_id, signed), 404, 'swap_not_found')
  rejected(await swaps.order(taker), 403, 'wallet_not_linked')
})
