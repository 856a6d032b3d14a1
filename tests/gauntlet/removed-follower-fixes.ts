import type { RemovedFix } from './removed-fix.ts'

/** Of the follower, which reads each network once and makes whole ranges of blocks final. */
export const FOLLOWER_FIXES: readonly RemovedFix[] = [
  {
    finding: 'follower a payment that was read costs no call',
    marker: 'recorded-payment-first',
    to: 'await findUnused(ctx, chain, question)',
    test: 'tests/payments/api-lookups.test.ts',
    title: 'pay: a transfer that was read pays the order without a call',
  },
  {
    finding: 'follower a replaced payment is not answered from the record',
    marker: 'replaced-payment-is-missing',
    test: 'tests/payments/recorded.test.ts',
    title: 'the node is asked about a payment whose block was replaced',
  },
  {
    finding: 'follower a payment in a block is not given up',
    marker: 'unconfirmed-does-not-expire',
    to: 'hasBytes(intent)',
    test: 'tests/payments/intents.test.ts',
    title: 'a payment whose block is read only after an hour',
  },
  {
    finding: 'follower the position moves with what was read',
    marker: 'position-with-transfers',
    to: '(await movePosition(tx, network, { from, to, height })) === undefined',
    test: 'tests/payments/replaced-blocks.test.ts',
    title: 'readNewBlocks: a slower worker does not put back',
  },
  {
    finding: 'follower a claim does not bring back a replaced block',
    marker: 'claimed-block-stands',
    test: 'tests/payments/replaced-blocks.test.ts',
    title: 'claimTransfer: a transfer whose block was replaced',
  },
  {
    finding: 'follower a recorded payment has the sender that a node would show',
    marker: 'sender-of-recorded',
    to: 'false',
    test: 'tests/payments/own-payers.test.ts',
    title: 'what a vault pays from another contract',
  },
  {
    finding: 'follower one block full of transfers does not stop the reading',
    marker: 'one-large-block',
    to: 'undefined',
    test: 'tests/chains/evm-read-new.test.ts',
    title: 'a single block whose response is larger than 32 MiB is read',
  },
  {
    finding: 'follower a treasury in another case is the same one',
    marker: 'one-form-of-treasury',
    to: 'chain.treasury',
    test: 'tests/reserves/held.test.ts',
    title: 'a treasury whose address is written in another case',
  },
  {
    finding: 'follower a log that every provider leaves out stops finality',
    marker: 'transfers-explain-the-balance',
    test: 'tests/reserves/providers.test.ts',
    title: 'a transfer that both providers leave out',
  },
]
