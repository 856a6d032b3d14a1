import { z } from 'zod'
import { actOnOrder, deliverOrder, quoteOrder } from './operations/orders.ts'
import { createReview } from './operations/reviews.ts'
import type { OrderAct } from './schemas/order-page.ts'

type Act = z.input<typeof OrderAct>
type Field = Act['fields'][number]

interface Call {
  readonly operation: { readonly id: Act['operation']; readonly input: z.ZodObject }
  readonly required: readonly string[]
  readonly optional?: readonly string[]
  /** Optional fields that replace a required one. */
  readonly insteadOf?: Readonly<Record<string, string>>
}

const onOrder = (required: readonly string[] = []): Call => ({ operation: actOnOrder, required })

/** How each action of an order is called. The bounds of the fields are those of the operation’s input. */
const CALLS: Readonly<Record<Act['action'], Call>> = {
  quote: { operation: quoteOrder, required: ['price_usd'], optional: ['expires_in_hours', 'message'] },
  accept: onOrder(),
  pay: {
    ...onOrder(['escrow_tx_hash']),
    optional: ['payment_network', 'signed_payment'],
    insteadOf: { signed_payment: 'escrow_tx_hash' },
  },
  start: onOrder(),
  deliver: {
    operation: deliverOrder,
    required: [],
    optional: ['deliverable_url', 'deliverable_media_type', 'deliverables', 'note'],
  },
  revision: onOrder(['feedback']),
  decline_revision: onOrder(),
  dispute: onOrder(['reason']),
  approve: onOrder(),
  cancel: onOrder(),
  refund: onOrder(),
  review: { operation: createReview, required: ['rating'], optional: ['comment'] },
}

interface JsonSchema {
  readonly type?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
}

const TYPES: Readonly<Record<string, Field['type']>> = {
  array: 'array',
  integer: 'number',
  number: 'number',
  object: 'object',
}

function fieldOf(input: z.ZodObject, name: string, required: boolean, instead?: string): Field {
  const schema = z.toJSONSchema(input.shape[name] as z.ZodType, {
    io: 'input',
    unrepresentable: 'any',
  }) as JsonSchema
  const { type, enum: values, ...bounds } = schema.anyOf?.[0] ?? schema
  return {
    name,
    type: TYPES[type ?? ''] ?? 'string',
    required,
    instead_of: instead ?? null,
    min: bounds.minLength ?? bounds.minItems ?? bounds.minimum ?? null,
    max: bounds.maxLength ?? bounds.maxItems ?? bounds.maximum ?? null,
    values: values === undefined ? null : [...values],
  }
}

/** What to call for each action, and with which fields. */
export const ORDER_ACTS = Object.fromEntries(
  Object.entries(CALLS).map(
    ([
      action,
      {
        operation: { id, input },
        required,
        optional = [],
        insteadOf = {},
      },
    ]) => [
      action,
      {
        operation: id,
        fields: [
          ...required.map((name) => fieldOf(input, name, true)),
          ...optional.map((name) => fieldOf(input, name, false, insteadOf[name])),
        ],
      },
    ],
  ),
) as Readonly<Record<Act['action'], Pick<Act, 'operation' | 'fields'>>>
