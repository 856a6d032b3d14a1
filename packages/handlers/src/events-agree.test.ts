import { EVENTS, type EventData, NEVER_SENT } from '@market/contract/events'
import type { EventDataOf, EventName } from '@market/core/events'
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

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = { [Field in keyof T]: T[Field] }
type Agreement = { [Name in EventName]: Same<Flat<EventData<Name>>, Flat<EventDataOf[Name]>> }

test('events: core and contract have the same names and data types', () => {
  expectTypeOf<Same<EventName, keyof typeof EVENTS>>().toEqualTypeOf<true>()
  expectTypeOf<Agreement[EventName]>().toEqualTypeOf<true>()
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(Object.keys(EVENTS).toSorted())
})

test.each(Object.entries(EVENTS))('%s: the contract accepts every field and has no other', (name, schema) => {
  const example = EXAMPLES[name as EventName]
  expect(schema.strict().parse(example)).toEqual(example)
  expect(Object.keys(schema.shape).toSorted()).toEqual(Object.keys(example).toSorted())
})

test('events: NEVER_SENT names no event of the contract', () => {
  for (const name of NEVER_SENT) expect(Object.keys(EVENTS)).not.toContain(name)
})
