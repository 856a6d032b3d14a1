import { suspense } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'
import { approveAs, decideByTwo, operatorToken, proposeAs } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { SECOND_ADMIN_USER } from '../support/settings.ts'
import {
  auditOf,
  balanceIn,
  makeClaimed,
  makeFailed,
  makeOutgoingTransfer,
  makeUnmatched,
  NETWORK,
  someHash,
} from '../support/treasury.ts'

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

/** An unexplained payment of 5 USDC and a transfer of 7 USDC that paid for nothing. */
const makePair = async () => ({
  sent: await makeOutgoingTransfer(market.db),
  received: await makeUnmatched(market.db, { amount: 7_000_000n }),
})

const payloadOf = (sent: string, received: string, network: string = NETWORK) => ({
  transfer_id: `${NETWORK}:${sent}`,
  unmatched_id: `suspense:${network}:${received}`,
})
const propose = (payload: object) => proposeAs(market, 'pair_transfer', payload)
const inSuspense = (reference: string) => balanceIn(market.db, suspense(NETWORK, reference))
const unexplained = async () => {
  const { body } = await market.client().get('/api/admin/outgoing-transfers?limit=100', { bearer })
  return body.data.map(({ reference }: { reference: string }) => reference)
}

test('one operator proposes, nothing moves; another approves, and suspense pays for the payment', async () => {
  const { sent, received } = await makePair()
  const payload = payloadOf(sent.reference, received.reference)
  const { status, body } = await propose(payload)
  expect(status).toBe(201)
  expect(body.data).toMatchObject({
    kind: 'pair_transfer',
    payload,
    subject: payload.unmatched_id,
    summary: `charge the payment ${sent.reference} of 5.00 USDC to ${sent.payee} on ${NETWORK} to transfer ${received.reference}, which keeps 2.00 USDC`,
    state: 'pending',
  })
  expect(await inSuspense(received.reference)).toBe(7_000_000n)
  expect(await unexplained()).toContain(sent.reference)
  rejected(await approveAs(market, body.data.id, bearer), 403, 'second_operator_required')
  expect(await inSuspense(received.reference)).toBe(7_000_000n)

  expect((await approveAs(market, body.data.id)).status).toBe(200)
  expect(await inSuspense(received.reference)).toBe(2_000_000n)
  expect(await unexplained()).not.toContain(sent.reference)
  expect(await auditOf(market.db, sent.reference)).toEqual([
    {
      act: 'transfer.paired',
      actor: `user:${SECOND_ADMIN_USER}`,
      details: {
        approval: body.data.id,
        network: NETWORK,
        payee: sent.payee,
        amount_usd: '5.00',
        transfer: received.reference,
      },
    },
  ])
  const recipient = `wallet:${received.payer}`
  const told = market.db.selectFrom('notifications').select('kind').where('recipient', '=', recipient)
  expect(await told.execute()).toEqual([{ kind: 'approval.proposed' }, { kind: 'approval.approved' }])
  rejected(await propose(payload), 409, 'conflict')
})

test('a paired payment is not written off, and the payer gets the rest back', async () => {
  const { sent, received } = await makePair()
  expect(
    (await decideByTwo(market, 'pair_transfer', payloadOf(sent.reference, received.reference))).status,
  ).toBe(200)
  const reason = { reason: 'The payer asked for it' }
  const writeOff = `/api/admin/outgoing-transfers/${NETWORK}:${sent.reference}/write-off`
  rejected(await market.client().post(writeOff, reason, { bearer }), 409, 'conflict')
  const path = `/api/admin/unmatched-transfers/suspense:${NETWORK}:${received.reference}/refund`
  const { status, body } = await market.client().post(path, reason, { bearer })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ payee: received.payer, amount_usd: '2.00' })
})

test('the later payment of a transaction is paired by its index', async () => {
  const { sent, received } = await makePair()
  await makeOutgoingTransfer(market.db, { reference: sent.reference, index: 1, amount: 6_000_000n })
  const payload = payloadOf(`${sent.reference}.1`, received.reference)
  expect((await decideByTwo(market, 'pair_transfer', payload)).status).toBe(200)
  expect(await inSuspense(received.reference)).toBe(1_000_000n)
  expect((await unexplained()).filter((one: string) => one === sent.reference)).toHaveLength(1)
})

test('400: missing or invalid ids, and a surplus', async () => {
  const [sent, received] = [someHash(), someHash()]
  invalid(await propose({}), 'payload.transfer_id', 'payload.unmatched_id')
  invalid(await propose(payloadOf('0x12', '0x12')), 'payload.transfer_id', 'payload.unmatched_id')
  const good = payloadOf(sent, received)
  invalid(await propose({ ...good, unmatched_id: `surplus:${NETWORK}:${received}` }), 'payload.unmatched_id')
})

test('404: an unknown payment or transfer', async () => {
  const { sent, received } = await makePair()
  rejected(await propose(payloadOf(someHash(), received.reference)), 404, 'not_found')
  rejected(await propose(payloadOf(sent.reference, someHash())), 404, 'not_found')
})

test('409: payments and transfers that are not final, explained, claimed, too small or on another network', async () => {
  const { db } = market
  const { sent, received } = await makePair()
  const unsure = await makeOutgoingTransfer(db, { isFinal: false })
  const explained = await makeOutgoingTransfer(db, { payoutId: (await makeFailed(db)).id })
  const seen = await makeUnmatched(db, { state: 'seen' })
  const small = await makeUnmatched(db, { amount: 4_999_999n })
  const claimed = await makeClaimed(db, { due: 1_000_000n, paid: 1_000_000n, beside: 6_000_000n })
  const other = await makeUnmatched(db, { network: 'alt-mainnet' })
  for (const payload of [
    payloadOf(unsure.reference, received.reference),
    payloadOf(explained.reference, received.reference),
    payloadOf(sent.reference, seen.reference),
    payloadOf(sent.reference, small.reference),
    payloadOf(sent.reference, claimed.reference),
    payloadOf(sent.reference, other.reference, 'alt-mainnet'),
  ])
    rejected(await propose(payload), 409, 'conflict')
  expect(await unexplained()).toContain(sent.reference)
})

test('409: money that was refunded after the proposal stays with its payer', async () => {
  const { sent, received } = await makePair()
  const { body } = await propose(payloadOf(sent.reference, received.reference))
  const path = `/api/admin/unmatched-transfers/suspense:${NETWORK}:${received.reference}/refund`
  expect((await market.client().post(path, { reason: 'Its payer asks' }, { bearer })).status).toBe(200)
  rejected(await approveAs(market, body.data.id), 409, 'conflict')
  expect(await unexplained()).toContain(sent.reference)
})
