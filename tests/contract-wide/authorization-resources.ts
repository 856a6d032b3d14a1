import type { Operation } from '@market/contract/define'
import { PAYEE } from '../support/agent-wallets.ts'
import { SOL } from '../support/price-source.ts'
import { CHECKSUMMED } from '../support/treasury.ts'
import type { World } from './authorization-fixture.ts'

/** Operations that need a resource of their own. */
const THINGS: Readonly<Record<string, (world: World) => Readonly<Record<string, unknown>>>> = {
  getPurchasedOrder: ({ purchasedOrder: { id, accessToken } }) => ({ order_id: id, t: accessToken }),
  getReceipt: ({ orders }) => ({ order_id: orders.paid.id }),
  getPurchasedReceipt: ({ purchasedOrder: { id, accessToken } }) => ({ order_id: id, t: accessToken }),
  generate: ({ workspace }) => ({ order_id: workspace.id }),
  generateForPurchase: ({ purchasedWorkspace: { id, accessToken } }) => ({ order_id: id, t: accessToken }),
  listPurchasedGenerations: ({ purchasedWorkspace: { id, accessToken } }) => ({
    order_id: id,
    t: accessToken,
  }),
  answerGeneration: ({ workspace }) => ({
    order_id: workspace.id,
    deliverable_id: workspace.toAnswer[0],
    deliverable: { type: 'text', content: 'Blue' },
  }),
  updatePortfolio: ({ agent, completedOrder }) => ({
    agent_id: agent.id,
    source_type: 'order',
    source_id: completedOrder.id,
  }),
  getServiceBySlug: ({ agent, service }) => ({ agent_slug: agent.slug, service_slug: service.slug }),
  listGenerations: ({ workspace }) => ({ order_id: workspace.id }),
  deleteService: ({ toDelete }) => ({ service_id: toDelete.id }),
  createOrder: ({ asking }) => ({ service_id: asking.id }),
  actOnOrder: ({ orders }) => ({ order_id: orders.paid.id, action: 'start' }),
  quoteOrder: ({ orders }) => ({ order_id: orders.toQuote[0] }),
  deliverOrder: ({ orders }) => ({
    order_id: orders.paid.id,
    deliverable_url: 'https://hooks.example/x',
  }),
  retryPayout: ({ orders }) => ({ order_id: orders.earned.id }),
  resolveDispute: ({ orders }) => ({ order_id: orders.disputed.id, outcome: 'refund' }),
  createBounty: ({ ownerWallet }) => ({
    client_wallet: ownerWallet.address,
    budget_usd: '5.00',
    deadline_hours: 24,
    claim_window_hours: 24,
    reference_urls: [],
    reference_images: [],
  }),
  getBounty: ({ bounties }) => ({ bounty_id: bounties.toAccept.bounty_id }),
  cancelBounty: ({ bounties }) => ({ bounty_id: bounties.toCancel[0] }),
  claimBounty: ({ bounties }) => ({ bounty_id: bounties.toClaim }),
  withdrawClaim: ({ bounties }) => ({ bounty_id: bounties.claimed }),
  rejectClaim: ({ bounties }) => bounties.toReject,
  acceptClaim: ({ bounties, ownerWallet }) => ({ ...bounties.toAccept, client_wallet: ownerWallet.address }),
  orderSwap: () => ({ wallet: SOL }),
  executeSwap: () => ({ order_id: `swp_1700000000000_${'0'.repeat(17)}`, signed_transaction: 'AAAA' }),
  depositToEarn: () => ({ amount_usd: '100.00', incoming_tx_hash: `0x${'ab'.repeat(32)}` }),
  withdrawFromEarn: () => ({ all: true }),
  recognizeTransfer: ({ money }) => ({ unmatched_id: `suspense:base-mainnet:${money.toKeep.reference}` }),
  createApproval: ({ money }) => ({
    kind: 'redirect_payout',
    payload: { payout_id: money.toRedirect.id, payee: CHECKSUMMED },
  }),
  resolveRegistration: ({ contestedPurchase }) => ({ purchase_id: contestedPurchase, outcome: 'release' }),
  rotateKey: ({ toRotate }) => ({ agent_id: toRotate.id, webhook_secret: true }),
  confirmPayoutChange: ({ toRotate }) => ({ agent_id: toRotate.id, address: CHECKSUMMED }),
  setWithdrawAddress: ({ agent }) => ({ agent_id: agent.id, address: PAYEE }),
  withdraw: () => ({ asset: 'SOL', amount: 0.5 }),
  sendFromWallet: ({ agent }) => ({ agent_id: agent.id, asset: 'SOL', to: PAYEE, amount: 0.5 }),
  launchToken: ({ agent }) => ({ agent_id: agent.id, image_url: 'https://hooks.example/token.png' }),
  getTokenDocument: ({ otherAgent }) => ({ agent_id: otherAgent.id }),
  registerToken: ({ tokenAgent }) => ({
    agent_id: tokenAgent.id,
    token_creator_wallet: tokenAgent.owner.address,
    token_tx_hash: undefined,
  }),
  claimRefund: ({ unmatched }) => ({ unmatched_id: `suspense:base-mainnet:${unmatched.reference}` }),
  recordCreatorFee: ({ creatorFee: { agentId, sol, sourceTx } }) => ({
    agent_id: agentId,
    amount_sol: sol,
    source_tx: sourceTx,
  }),
  settleCreatorFee: ({ creatorFee: { id, settleTx } }) => ({ creator_fee_id: id, settle_tx: settleTx }),
  approveApproval: ({ money }) => ({ approval_id: money.toApprove }),
  rejectApproval: ({ money }) => ({ approval_id: money.toReject }),
}

/** Existing resources by input field; all other fields can be generated. */
export const resourcesOf = (world: World, { id }: Operation): Readonly<Record<string, unknown>> => ({
  agent_id: world.agent.id,
  service_id: world.service.id,
  order_id: world.completedOrder.id,
  price_type: 'fixed',
  price_usd: '25.00',
  api_key: world.agent.apiKey,
  agent_name: world.agent.name,
  wallet: world.ownerWallet.address,
  network: world.money.toKeep.network,
  unmatched_id: `surplus:base-mainnet:${world.money.toKeep.reference}`,
  transfer_id: `base-mainnet:${world.money.toBook.reference}`,
  payout_id: world.money.failedPayout.id,
  // A switch that is turned on would stop all other requests.
  on: false,
  ...THINGS[id]?.(world),
})
