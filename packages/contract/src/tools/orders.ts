import { z } from 'zod'
import { operations as o } from '../operations.ts'
import { Category } from '../schemas/common.ts'
import {
  type Annotations,
  CREATE_IN_ORDER,
  ofOwnAgent,
  READ_OTHERS,
  type Tool,
  tool,
  transferFields,
  UPDATE_ORDER,
} from './define.ts'

const { order_id } = o.actOnOrder.input.shape

type Action = z.output<typeof o.actOnOrder.input>['action']

/** One action on an order, with the arguments that it needs beside `order_id`. */
function action(
  name: Tool['name'],
  does: Action,
  {
    title,
    description,
    annotations = UPDATE_ORDER,
    ...needs
  }: {
    readonly title: string
    readonly description: string
    readonly annotations?: Annotations
    readonly fields?: z.ZodRawShape
  },
): Tool {
  return tool(
    o.actOnOrder,
    { name, title, description, annotations },
    {
      input: z.strictObject({ order_id, ...needs.fields }),
      inputOf: (given) => ({ ...given, action: does }),
    },
  )
}

export const orderTools: readonly Tool[] = [
  tool(
    o.listAgentOrders,
    {
      name: 'market_poll_orders',
      title: 'List orders of my agent',
      description:
        'List the orders of your agent, newest first. status is a comma-separated list, for example paid,revision_requested for the ones to work on.',
      annotations: READ_OTHERS,
    },
    ofOwnAgent(o.listAgentOrders),
  ),
  tool(o.getOrder, {
    name: 'market_get_order',
    title: 'Get an order',
    description: 'Get an order with its brief, deliverables, review and what you can do next.',
    annotations: READ_OTHERS,
  }),
  tool(o.quoteOrder, {
    name: 'market_quote_order',
    title: 'Quote a price',
    description: 'Quote the price of an order that is pending_quote. The buyer accepts it by paying.',
    annotations: UPDATE_ORDER,
  }),
  tool(o.deliverOrder, {
    name: 'market_deliver_order',
    title: 'Deliver an order',
    description:
      'Deliver the work of a paid order, by deliverable_url or deliverables. The buyer has 48 hours to review it; then it is paid out.',
    annotations: CREATE_IN_ORDER,
  }),
  action('market_approve_order', 'approve', {
    title: 'Approve a delivery',
    description:
      'Approve the delivery of an order that you bought. Its payment goes to the agent, which cannot be undone.',
  }),
  action('market_cancel_order', 'cancel', {
    title: 'Cancel an order',
    description: 'Cancel an order before work begins. What was paid is refunded to the payer.',
  }),
  action('market_request_revision', 'revision', {
    title: 'Request a revision',
    description: 'Ask the agent to change its delivery. feedback says what is to change.',
    annotations: CREATE_IN_ORDER,
    fields: { feedback: o.actOnOrder.input.shape.feedback.unwrap() },
  }),
  action('market_dispute_order', 'dispute', {
    title: 'Dispute a delivery',
    description:
      'Dispute the delivery of an order that you bought. The payment is held until an arbiter decides.',
    fields: { reason: o.actOnOrder.input.shape.reason.unwrap() },
  }),
  tool(o.sendMessage, {
    name: 'market_send_message',
    title: 'Send a message',
    description: 'Send a message to the other party of a paid order.',
    annotations: CREATE_IN_ORDER,
  }),
  tool(o.listMessages, {
    name: 'market_get_messages',
    title: 'List messages',
    description: 'List the messages of an order.',
    annotations: READ_OTHERS,
  }),
]

const { service_id, brief } = o.payService.input.shape

export const SearchAgents = z.strictObject({
  query: z.string().min(1).max(100).optional().describe('Words of the title or description'),
  category: Category.optional(),
  limit: z.int().min(1).max(50).default(20),
  cursor: o.listPayableServices.input.shape.cursor,
})

/** The arguments of `search_agents` as the input of `listPayableServices`. */
export const searchInput = ({ query, ...rest }: Readonly<Record<string, unknown>>) => ({
  limit: 20,
  ...rest,
  ...(query !== undefined && { search: query }),
})

export const hiringTools: readonly Tool[] = [
  tool(
    o.listPayableServices,
    {
      name: 'market_search_agents',
      title: 'Search services to hire',
      description: 'Search services that can be hired by one payment. Next: market_get_payment_requirements.',
      annotations: READ_OTHERS,
    },
    { input: SearchAgents, inputOf: searchInput },
  ),
  tool(
    o.hireService,
    {
      name: 'market_get_payment_requirements',
      title: 'Get the price of a service',
      description:
        'Get what to pay, to which address and on which networks. Send the USDC, then call market_submit_payment with the transaction.',
      annotations: READ_OTHERS,
    },
    { input: z.strictObject({ service_id }), output: undefined, scope: 'market:read', isPrice: true },
  ),
  tool(
    o.payService,
    {
      name: 'market_submit_payment',
      title: 'Hire with a payment',
      description:
        'Hire a service with a USDC transfer that you sent. payment is its Solana signature or 0x hash. Returns order_id and status_url.',
      annotations: { ...CREATE_IN_ORDER, idempotentHint: true },
    },
    {
      input: z.strictObject({
        service_id,
        brief,
        ...transferFields,
      }),
      output: undefined,
      scope: 'market:funds',
      inputOf: ({ service_id: id, brief: words }) => ({ service_id: id, brief: words }),
      isPaid: true,
    },
  ),
]
