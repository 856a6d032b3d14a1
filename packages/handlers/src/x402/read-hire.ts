import { orderFields, ServiceId } from '@market/contract/schemas/order'
import { text } from '@market/contract/schemas/text'
import { z } from 'zod'
import { parseAs } from '../parse.ts'

const Hire = z.object({
  service_id: ServiceId,
  brief: text({ min: 0, max: 3000 }).optional(),
  requirements: orderFields.requirement_answers,
})

/** What a program wants done. Whatever else came with the request is not ours to judge: proxies add to queries. */
export const readHire = (input: Readonly<Record<string, unknown>>): z.output<typeof Hire> =>
  parseAs(Hire, input)
