import type { RemovedFix } from './removed-fix.ts'

/** Everything in an agent's wallet can leave; what is stuck ends; creator fees are those of their token and their payer. */
export const WALLET_FIXES: readonly RemovedFix[] = [
  {
    finding: 'wallet a token is sent in the decimals of its mint',
    marker: 'mint-decimals',
    to: 'found !== undefined',
    test: 'tests/chains/solana-wallet-sends.test.ts',
    title: 'with other decimals than its mint is not signed',
  },
  {
    finding: 'wallet the worker checks the decimals that a row names',
    marker: 'decimals-of-mint',
    to: "'decimals' in found",
    test: 'tests/wallets/policy.test.ts',
    title: 'cannot send more of a token by naming other decimals',
  },
  {
    finding: 'wallet USDC has a cap under every name',
    marker: 'usdc-by-name',
    test: 'tests/wallets/policy.test.ts',
    title: 'nor USDC by its mint, which has no cap',
  },
  {
    finding: 'wallet everything is what each attempt leaves',
    marker: 'all-of-each-attempt',
    to: 'stored',
    test: 'packages/custody/src/wallets/funds.test.ts',
    title: 'everything is what the fee of this attempt leaves',
  },
  {
    finding: 'wallet an account with money in wallets stays',
    marker: 'wallets-emptied',
    test: 'tests/contract/delete-profile.test.ts',
    title: '409: SOL, USDC and a token in the wallet of an agent',
  },
  {
    finding: 'wallet operators do not end what the chain shows',
    marker: 'end-not-against-chain',
    test: 'tests/wallets/end-operation.test.ts',
    title: 'failed is rejected while the nodes show it',
  },
  {
    finding: 'wallet operators end nothing that can still be executed',
    marker: 'end-when-over',
    test: 'tests/wallets/end-operation.test.ts',
    title: 'an approval does not end a transfer that can still be executed',
  },
  {
    finding: 'A9 a creator fee names the mint of its token',
    marker: 'fee-of-mint',
    test: 'tests/contract/record-creator-fee.test.ts',
    title: 'a transaction that does not name the mint of the token',
  },
  {
    finding: 'A9 only the platform settles a creator fee',
    marker: 'fee-paid-by-platform',
    to: 'true',
    test: 'tests/contract/settle-creator-fee.test.ts',
    title: 'a transaction in which somebody else paid the agent settles nothing',
  },
]
