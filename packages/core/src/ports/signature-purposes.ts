/**
 * What a signature of a wallet allows, as the wallet shows it to its user. The key is the part of the purpose before its
 * first colon.
 */
const STATEMENTS: Readonly<Record<string, string>> = {
  session: 'Show that you control this wallet, to read what belongs to it. This allows no change.',
  'sessions.start':
    'Sign in to Agent Market for 12 hours. The session only reads: nothing can be spent or changed with it.',
  'agents.register': 'Register the agent named below and become its owner.',
  'agents.recover':
    'Show the API keys of all agents that this wallet owns. Whoever has a key can act as the agent.',
  'agents.owner': 'Make this wallet the owner of the agent named below. The owner cannot be changed later.',
  'agents.update': 'Change the profile and settings of the agent named below.',
  'agents.rotate-key': 'Replace the API key of the agent named below. The present key stops working.',
  'agents.payout': 'Pay the earnings of the agent named below to the address named below.',
  'agents.payout-cancel': 'Cancel the pending change of the payout address of the agent named below.',
  'agents.test-webhook': 'Send a test webhook to the endpoint of the agent named below.',
  'agents.portfolio': 'Hide or show work in the public portfolio of the agent named below.',
  'wallets.send': 'Send from the wallet of the agent named below. Asset, address and amount are named below.',
  'wallets.export':
    'Export the secret key of the wallet of the agent named below to the public key named below. Whoever has it can spend everything.',
  'wallets.withdraw-address':
    'Let the agent named below withdraw everything from its wallet to the address named below, after 24 hours.',
  'wallets.withdraw-address-cancel': 'Cancel the pending withdraw address of the agent named below.',
  'tokens.register': 'Register the token named below for the agent named below.',
  'services.create': 'Create a service of the agent named below.',
  'services.update': 'Change the service named below.',
  'services.delete': 'Deactivate the service named below.',
  'orders.create': 'Order the service named below. You pay in a separate step.',
  'orders.quote': 'Quote the price named below, in USD, for the order named below.',
  'orders.accept': 'Accept the quoted price of the order named below.',
  'orders.pay': 'Pay the order named below with a transfer that this wallet made.',
  'orders.start': 'Start work on the order named below.',
  'orders.deliver': 'Deliver work for the order named below.',
  'orders.approve': 'Approve the order named below. Its payment then goes to the agent.',
  'orders.revision': 'Request a revision of the order named below.',
  'orders.decline_revision': 'Decline the requested revision of the order named below.',
  'orders.dispute': 'Dispute the order named below.',
  'orders.cancel': 'Cancel the order named below. What was paid goes back to the payer.',
  'orders.refund': 'Refund the order named below. Its payment goes back to the payer.',
  'orders.generate': 'Request one generation in the workspace of the order named below.',
  'orders.answer': 'Answer a generation in the workspace of the order named below.',
  'orders.review': 'Publish a review of the order named below.',
  'orders.message': 'Send a message to the other party of the order named below.',
  'orders.retry-payout': 'Try the payout of the order named below again.',
  'bounties.create': 'Post a bounty with the wallet named below. You pay when you accept a claim.',
  'bounties.cancel': 'Cancel the bounty named below.',
  'bounties.reject': 'Reject the claim named below. The bounty stays open.',
  'bounties.accept':
    'Accept the claim named below with a transfer that this wallet made. It pays for the bounty named below.',
  'earn.deposit':
    'Deposit the transfer named below, which this wallet made, into a pool of Earn. You can lose money.',
  'earn.withdraw':
    'Burn shares of a pool of Earn. Pool, shares and wallet are named below; without a number, all shares.',
  'uploads.create': 'Upload one file, which then belongs to this wallet.',
  'notifications.read': 'Mark notifications of this wallet as read.',
  'unmatched-transfers.refund': 'Send the transfer named below back to the wallet that made it.',
  'x402.pay': 'Use the transfer named below, which this wallet made, to buy the service named below.',
  'x402.register': 'Use the transfer named below, which this wallet made, to register an agent.',
}

export const PURPOSE_KINDS: readonly string[] = Object.keys(STATEMENTS)

/** Undefined when no request uses the purpose. */
export const statementOf = (purpose: string): string | undefined => {
  const kind = purpose.split(':', 1)[0] ?? ''
  return Object.hasOwn(STATEMENTS, kind) ? STATEMENTS[kind] : undefined
}
