import {
  BUYER_EVENTS,
  type BuyerEventData,
  EVENTS,
  type EventData,
  NEVER_SENT,
} from '@market/contract/events'
import type { BuyerEventDataOf, BuyerEventName, EventDataOf, EventName } from '@market/core/events'
import { expect, expectTypeOf, test } from 'vitest'

/** One example of each event. The type requires that none is missing. */
const EXAMPLES: { readonly [Name in EventName]: Required<EventDataOf[Name]> } = {
  'order.created': {
    service_id: 'srv_1',
    brief: 'A brief',
    reference_images: ['https://other.example/a.png'],
    requirement_answers: { size: 'large', count: 3 },
    status: 'pending',
    service_title: 'A service',
    payment_method: 'usdc',
  },
  'order.paid': { status: 'paid', service_title: 'A service' },
  'order.revision_requested': { feedback: 'Bluer', revision_count: 1, max_revisions: 3, is_extra: false },
  'order.disputed': { reason: 'Not what was asked for' },
  'order.completed': { payout_failed: false },
  'order.cancelled': { previous_status: 'paid' },
  'order.message': { sender_type: 'client', sender_name: 'A Client', content: 'Hello' },
  'order.payout_sent': { amount_usd: '9.00', chain: 'base', tx_hash: '0x1', destination: '0x2' },
  'order.payout_failed': { reason: 'no_wallet', chain: 'base', amount_usd: '9.00', hint: 'Set a wallet' },
  'bounty.accepted': { bounty_id: 'bty_1', brief: 'A brief', budget_usd: '50.00', deadline_hours: 24 },
  'bounty.claim_rejected': { bounty_id: 'bty_1' },
  'workspace.generate': { deliverable_id: 'dlv_1', prompt: 'Draw', deadline: '2026-01-01T00:00:00.000Z' },
  'webhook.test': { message: 'A test' },
}

const BUYER_EXAMPLES: { readonly [Name in BuyerEventName]: Required<BuyerEventDataOf[Name]> } = {
  'order.quoted': { price_usd: '9.00', expires_at: '2026-01-01T00:00:00.000Z', message: 'Two logos' },
  'order.accepted': { price_usd: '9.00' },
  'order.paid': { status: 'paid', service_title: 'A service' },
  'order.delivered': { review_ends_at: '2026-01-01T00:00:00.000Z' },
  'order.revision_declined': { review_ends_at: '2026-01-01T00:00:00.000Z' },
  'order.completed': { outcome: 'released' },
  'order.cancelled': { previous_status: 'paid', refunded: true },
  'order.payment_reversed': { previous_status: 'paid' },
  'order.refunded': { amount_usd: '9.00', chain: 'base', tx_hash: '0x1', destination: '0x2' },
  'order.message': { sender_type: 'agent', sender_name: 'An Agent', content: 'Hello' },
  'workspace.generated': { deliverable_id: 'dlv_1', status: 'completed' },
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = { [Field in keyof T]: T[Field] }
type Agreement = { [Name in EventName]: Same<Flat<EventData<Name>>, Flat<EventDataOf[Name]>> }
type BuyerAgreement = {
  [Name in BuyerEventName]: Same<Flat<BuyerEventData<Name>>, Flat<BuyerEventDataOf[Name]>>
}

test('events: core and contract have the same names and data types', () => {
  expectTypeOf<Same<EventName, keyof typeof EVENTS>>().toEqualTypeOf<true>()
  expectTypeOf<Agreement[EventName]>().toEqualTypeOf<true>()
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(Object.keys(EVENTS).toSorted())
})

test('events of buyers: core and contract have the same names and data types', () => {
  expectTypeOf<Same<BuyerEventName, keyof typeof BUYER_EVENTS>>().toEqualTypeOf<true>()
  expectTypeOf<BuyerAgreement[BuyerEventName]>().toEqualTypeOf<true>()
  expect(Object.keys(BUYER_EXAMPLES).toSorted()).toEqual(Object.keys(BUYER_EVENTS).toSorted())
})

test.each(Object.entries(EVENTS))('%s: the contract accepts every field and has no other', (name, schema) => {
  const example = EXAMPLES[name as EventName]
  expect(schema.strict().parse(example)).toEqual(example)
  expect(Object.keys(schema.shape).toSorted()).toEqual(Object.keys(example).toSorted())
})

test.each(Object.entries(BUYER_EVENTS))(
  '%s of a buyer: the contract accepts every field and has no other',
  (name, schema) => {
    const example = BUYER_EXAMPLES[name as BuyerEventName]
    expect(schema.strict().parse(example)).toEqual(example)
    expect(Object.keys(schema.shape).toSorted()).toEqual(Object.keys(example).toSorted())
  },
)

test('events: NEVER_SENT names no event of the contract', () => {
  for (const name of NEVER_SENT) expect(Object.keys(EVENTS)).not.toContain(name)
})
