import { createOrder } from '@market/contract/operations/orders'
import { orderFields, ServiceId } from '@market/contract/schemas/order'
import { text } from '@market/contract/schemas/text'
import { ApiError } from '@market/kernel/api-error'
import type { OrderExtras } from '@market/trade/x402'
import { z } from 'zod'
import { parseAs } from '../parse.ts'
import type { DoorName } from './hire-call.ts'

const Purchase = z.object({
  service_id: ServiceId,
  brief: text({ min: 0, max: 3000 }).optional(),
  requirements: orderFields.requirement_answers,
})

/** What only an order can say, in its own words. */
const Order = Purchase.extend({
  requirement_answers: orderFields.requirement_answers,
  reference_urls: orderFields.reference_urls,
  reference_images: orderFields.reference_images,
  private: createOrder.input.shape.private,
})

interface Read extends z.output<typeof Purchase> {
  readonly extras?: OrderExtras
}

/** What a program wants done. Whatever else came with the request is not ours to judge: proxies add to queries. */
export function readHire(door: DoorName, input: Readonly<Record<string, unknown>>): Read {
  if (door !== 'order') return parseAs(Purchase, input)
  const order = parseAs(Order, input)
  return {
    service_id: order.service_id,
    brief: order.brief,
    requirements: answersIn(order),
    extras: {
      referenceUrls: order.reference_urls,
      referenceImages: order.reference_images,
      isPrivate: order.private,
    },
  }
}

/** One thing by two names: whoever uses both may mean something else by each. */
function answersIn({ requirements, requirement_answers: answers }: z.output<typeof Order>) {
  if (Object.keys(requirements).length === 0) return answers
  if (Object.keys(answers).length === 0) return requirements
  throw new ApiError('invalid', 'Send requirement_answers or requirements, not both', {
    details: [{ path: 'requirements', message: 'is another name of requirement_answers' }],
  })
}
