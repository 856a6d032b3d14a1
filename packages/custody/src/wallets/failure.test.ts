import { expect, test } from 'vitest'
import { failedError } from './failure.ts'

test('an operation that Solana rejected: 409 rejected_on_chain with the id of the operation', () => {
  const operation_id = 'wop_1794784877443_0snwjnwxjbap05ksv'
  expect(failedError(operation_id, 'rejected_on_chain')).toMatchObject({
    kind: 'conflict',
    message: expect.stringContaining('Check the balance of the wallet, and try again.'),
    extra: { code: 'rejected_on_chain', fields: { operation_id } },
  })
})
