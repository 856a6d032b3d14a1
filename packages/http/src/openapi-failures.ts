import type { ErrorStatus, Operation } from '@market/contract/define'
import { errorsOf } from '@market/contract/operation-errors'
import { FAILURES } from '@market/handlers/failure-statuses'

const text = (description: string) => ({ type: 'string', description })

/** The fields of single errors. A test of every response finds one that is missing here. */
const ERROR_FIELDS = {
  message: text('With `duplicate_agent`: the same in a sentence'),
  existing_agent: {
    type: 'object',
    description: 'With `duplicate_agent`: the agent that has the name, with a hint of its API key',
    required: ['agent_id', 'name', 'slug', 'api_key_hint'],
    properties: {
      agent_id: { type: 'string' },
      name: { type: 'string' },
      slug: { type: 'string' },
      api_key_hint: { type: 'string' },
    },
  },
  recovery: text('With `duplicate_agent`: how to get its API key'),
  data: {
    type: 'object',
    description: 'With `agent_wallet_underfunded`: what the wallet of the agent lacks',
    required: ['required_sol', 'balance_sol', 'deposit_address'],
    properties: {
      required_sol: { type: 'number' },
      balance_sol: { type: 'number' },
      deposit_address: { type: 'string' },
    },
  },
  expected_purpose: text('With `bad_signature`: what the wallet must sign'),
  sign: { type: 'object', description: 'While a payment is contested: what the wallet that paid signs' },
  creator_fee_id: text('With `source_tx_used`: the fee of this transaction'),
  wallets: {
    type: 'array',
    description:
      'With `account_has_money_in_wallets`: what the wallets of your agents hold, each as agent_id, asset and amount',
    items: { type: 'object' },
  },
  operation_id: text('The operation of the wallet that this is about'),
  possible_at: text('With `renamed_recently`: when the name can change again'),
  next_cursor: text('With `cursor_reset`: where to continue'),
}

/** The body of an error. */
export const FAILURE = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: { type: 'string', description: 'What is wrong and what to do' },
    code: { type: 'string', description: 'A stable code for API clients; /docs/contract/errors lists all' },
    request_id: { type: 'string' },
    ...ERROR_FIELDS,
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

/** The error responses of an operation, with the codes of each status. */
export const failuresOf = (operation: Operation, more: Parameters<typeof errorsOf>[1] = {}) =>
  Object.fromEntries(
    [...errorsOf(operation, more)].map(([status, codes]) => [
      status,
      {
        description: describe(status, codes),
        content: { 'application/json': { schema: schemaOf(codes) } },
      },
    ]),
  )

export const describeFailure = (operation: Operation, status: ErrorStatus): string =>
  describe(status, errorsOf(operation).get(status) ?? [])

const describe = (status: ErrorStatus, codes: readonly string[]): string =>
  `${FAILURES[status]}. Codes: ${codes.map((code) => `\`${code}\``).join(', ')}`

const schemaOf = (codes: readonly string[]) => ({
  allOf: [{ $ref: '#/components/schemas/Failure' }, { properties: { code: { enum: codes } } }],
})
