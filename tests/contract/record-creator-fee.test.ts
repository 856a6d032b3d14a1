import { operations } from '@market/contract/operations'
import { AccountRole, address, generateKeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import {
  FEES,
  type FeeMarket,
  makeTokenAgent,
  solOf,
  someSignature,
  startFeeMarket,
  type TokenAgent,
} from '../support/creator-fees.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { loginBefore, operatorToken, secondOperatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER, CREATOR_FEE_WALLET } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { auditOf } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const AMOUNT = 10_000_003n
const PREPARED = 100

let fees: FeeMarket
let agent: TokenAgent
let sources: string[]
beforeAll(async () => {
  fees = await startFeeMarket()
  agent = await makeTokenAgent(fees.market)
  sources = await fees.payFees(agent.mint, ...Array.from({ length: PREPARED }, () => AMOUNT))
})
afterAll(() => fees.market.stop())

/** The same for another agent. */
const newFeeOf = async ({ id, mint }: TokenAgent) => {
  const [source_tx = ''] = await fees.payFees(mint, AMOUNT)
  return { agent_id: id, amount_sol: solOf(AMOUNT), source_tx }
}

/** The request for a fee that was paid and not recorded. */
const newFee = () => {
  const source_tx = sources.pop()
  if (source_tx === undefined) throw new Error(`more than ${PREPARED} fees are needed`)
  return { agent_id: agent.id, amount_sol: solOf(AMOUNT), source_tx }
}

const subject: Subject = {
  market: () => fees.market,
  operation: operations.recordCreatorFee,
  good: async () => ({ path: FEES, body: newFee(), ask: { bearer: fees.bearer } }),
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, body: newFee() }) })
rejectsWithoutProvider(subject, FEES, { agent_id: 'agt_1', amount_sol: 1, source_tx: someSignature() })

const rowsOf = (sourceTx: string) =>
  fees.market.db.selectFrom('creator_fees').select('id').where('source_tx', '=', sourceTx).execute()

test('201: splits the fee of a launched token and records the operator', async () => {
  const seller = await makeTokenAgent(fees.market)
  const fee = await newFeeOf(seller)
  const { status, body } = await fees.record(fee)
  expect(status).toBe(201)
  expect(body).toEqual({
    success: true,
    data: {
      id: expect.stringMatching(/^cfe_/),
      agent_id: seller.id,
      token_mint: seller.mint,
      token_mode: 'token2022',
      amount_sol: 0.010000003,
      agent_sol: 0.006500003,
      partner_sol: 0.002333,
      buyback_sol: 0.001167,
      source_tx: fee.source_tx,
      status: 'accrued',
      recorded_by: `user:${ADMIN_USER}`,
      created_at: expect.stringMatching(INSTANT),
      settle_tx: null,
      settled_by: null,
      settled_at: null,
      reversed_at: null,
      approval_id: null,
    },
  })
  expect(await auditOf(fees.market.db, seller.id)).toContainEqual({
    act: 'creator_fees.record',
    actor: `user:${ADMIN_USER}`,
    details: {
      creator_fee_id: body.data.id,
      mode: 'token2022',
      source_tx: fee.source_tx,
      amount_sol: '0.010000003',
    },
  })
})

test('201: a token of the legacy path gives 10 % to the buyback and the rest to the agent', async () => {
  const seller = await makeTokenAgent(fees.market, 'pumpfun')
  const { body } = await fees.record(await newFeeOf(seller))
  expect(body.data).toMatchObject({
    token_mode: 'pumpfun',
    agent_sol: 0.009000003,
    partner_sol: 0,
    buyback_sol: 0.001,
  })
})

test('201: the same request again, also by another operator, returns the recorded fee', async () => {
  const fee = newFee()
  const first = await fees.record(fee)
  const again = await fees.record(fee, await secondOperatorToken(fees.market))
  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.body).toEqual(first.body)
})

test('201: 50 concurrent requests for one transaction record one fee', async () => {
  const seller = await makeTokenAgent(fees.market)
  const fee = await newFeeOf(seller)
  const replies = await Promise.all(Array.from({ length: 50 }, () => fees.record(fee)))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1)
  expect(await rowsOf(fee.source_tx)).toHaveLength(1)
  const recorded = (await auditOf(fees.market.db, seller.id)).filter(
    ({ act }) => act === 'creator_fees.record',
  )
  expect(recorded).toHaveLength(1)
})

test('400: missing or invalid fields', async () => {
  invalid(await fees.record({}), 'agent_id', 'amount_sol', 'source_tx')
  for (const amount_sol of [0, -1, 1e-10, 1_000_001, '1'])
    invalid(await fees.record({ ...newFee(), amount_sol }), 'amount_sol')
  for (const source_tx of ['', '0x12', `0x${'0'.repeat(64)}`, 'l'.repeat(88)])
    invalid(await fees.record({ ...newFee(), source_tx }), 'source_tx')
})

test('400: an amount that differs from what the transaction paid; the message has both', async () => {
  const fee = newFee()
  for (const [amount_sol, text] of [
    [0.010000002, '0.010000002'],
    [1, '1'],
  ] as const) {
    const message = `is ${text} but the transaction paid 0.010000003 SOL to ${CREATOR_FEE_WALLET}`
    const reply = await fees.record({ ...fee, amount_sol })
    rejected(reply, 400, 'creator_fee_not_proven', { details: [{ path: 'amount_sol', message }] })
    expect(reply.body.error).toBe(`amount_sol ${message}.`)
  }
  expect(await rowsOf(fee.source_tx)).toEqual([])
})

test('400: a transaction that does not name the mint of the token, or names that of another agent', async () => {
  const other = await makeTokenAgent(fees.market)
  const [withoutMint = ''] = await fees.payBy(CREATOR_FEE_WALLET, AMOUNT)
  const message = `does not name the mint ${agent.mint}, as an account or as the text of a memo`
  for (const source_tx of [withoutMint, (await newFeeOf(other)).source_tx]) {
    const reply = await fees.record({ ...newFee(), source_tx })
    rejected(reply, 400, 'creator_fee_not_proven', { details: [{ path: 'source_tx', message }] })
    expect(await rowsOf(source_tx)).toEqual([])
  }
})

test('201: a transaction that names the mint as one of its accounts', async () => {
  const payer = await fees.solana.wallet()
  const mint = address(agent.mint)
  const transfer = getTransferSolInstruction({
    ...{ source: payer, destination: address(CREATOR_FEE_WALLET), amount: AMOUNT },
  })
  const naming = {
    ...transfer,
    accounts: [...transfer.accounts, { address: mint, role: AccountRole.READONLY }],
  }
  const source_tx = await fees.solana.send(payer, [naming])
  await fees.solana.settled(source_tx, 'finalized')
  expect((await fees.record({ ...newFee(), source_tx })).status).toBe(201)
})

test('400: a transaction that paid another wallet, failed, or that no node knows', async () => {
  const [toAgent = ''] = await fees.payBy((await generateKeyPairSigner()).address, AMOUNT)
  const elsewhere = await fees.record({ ...newFee(), source_tx: toAgent })
  expect(elsewhere.body.error).toContain('paid 0 SOL to')
  rejected(elsewhere, 400, 'creator_fee_not_proven', { details: elsewhere.body.details })

  const poor = await fees.solana.wallet()
  const destination = (await generateKeyPairSigner()).address
  const tooMuch = getTransferSolInstruction({ source: poor, destination, amount: 10n ** 15n })
  const failed = await fees.solana.send(poor, [tooMuch])
  await fees.solana.settled(failed, 'finalized')
  for (const [source_tx, text] of [
    [failed, 'failed on chain'],
    [someSignature(), 'is not a transaction on solana-mainnet'],
  ] as const) {
    const reply = await fees.record({ ...newFee(), source_tx })
    const details = [{ path: 'source_tx', message: expect.stringContaining(text) }]
    rejected(reply, 400, 'creator_fee_not_proven', { details })
  }
})

test('401: an operator who signed in too long ago', async () => {
  rejected(await fees.record(newFee(), loginBefore(fees.market, 901)), 401, 'login_too_old')
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(fees.market)
  const { apiKey } = await makeAgent(fees.market)
  for (const credential of [ADMIN_KEY, token, apiKey])
    rejected(await fees.record(newFee(), credential), 403, 'wrong_credential')
})

test('404: an unknown agent, and an agent without a token', async () => {
  rejected(await fees.record({ ...newFee(), agent_id: 'agt_1_unknown' }), 404, 'agent_not_found')
  const { id } = await makeAgent(fees.market)
  rejected(await fees.record({ ...newFee(), agent_id: id }), 404, 'token_not_found')
})

test('409: a transaction that is recorded for another agent or amount', async () => {
  const fee = newFee()
  const { id } = (await fees.record(fee)).body.data
  const other = await makeTokenAgent(fees.market)
  for (const change of [{ agent_id: other.id }, { amount_sol: 1 }])
    rejected(await fees.record({ ...fee, ...change }), 409, 'source_tx_used', { creator_fee_id: id })
  expect(await rowsOf(fee.source_tx)).toHaveLength(1)
})

test('503: without a wallet for creator fees, and without a Solana node', async () => {
  for (const [settings, code] of [
    [{ SOLANA_CREATOR_FEE_WALLET: '' }, 'creator_fees_unavailable'],
    [{}, 'wallets_unavailable'],
  ] as const) {
    const market = await startMarket(settings)
    try {
      const { id } = await makeTokenAgent(market)
      const body = { agent_id: id, amount_sol: 1, source_tx: someSignature() }
      const reply = await market.client().post(FEES, body, { bearer: await operatorToken(market) })
      rejected(reply, 503, code)
      expect(reply.headers.get('retry-after')).toBe('60')
    } finally {
      await market.stop()
    }
  }
})
