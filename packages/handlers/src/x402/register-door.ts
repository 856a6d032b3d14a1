import { registerAgent } from '@market/contract/operations/agents'
import { findAgentById, openSecrets } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { buyRegistration, type PurchaseResult, readPaymentCredential } from '@market/trade/x402'
import { presentRegistered } from '../agents.ts'
import type { AppServices } from '../app-services.ts'
import type { Answer } from '../call.ts'
import { parseAs } from '../parse.ts'
import type { HireCall } from './hire-call.ts'
import { keyOf, oneWay } from './hire-door.ts'
import { presentPending, presentQuote, responseHeaders } from './present-hire.ts'

/** Registers an agent that is paid for with the request: the wallet that paid owns it. */
export const registerDoor = (app: AppServices, fee: Usdc): ((call: HireCall) => Promise<Answer>) =>
  oneWay(app, async (call) => {
    const { pay: _query, pay_to_register: _body, ...fields } = call.input
    const input = parseAs(registerAgent.input, fields)
    if (input.owner_wallet !== undefined)
      throw new ApiError('invalid', 'Leave owner_wallet out: the wallet that pays becomes the owner', {
        details: [{ path: 'owner_wallet', message: 'is the wallet that pays' }],
      })
    const answer = await buyRegistration(app, {
      wanted: {
        name: input.name,
        description: input.description,
        capabilities: input.capabilities,
        aiModels: input.ai_models,
        endpointUrl: input.endpoint_url,
        avatarUrl: input.avatar_url,
      },
      fee,
      credential: readPaymentCredential(call.payment),
      requestKey: keyOf(call),
      claim: call.claim,
    })
    return present(app, answer)
  })

function present(app: AppServices, answer: PurchaseResult): Promise<Answer> | Answer {
  switch (answer.kind) {
    case 'quote':
      return presentQuote(app, 'order', answer)
    case 'pending':
      return presentPending(app, answer)
    case 'done':
      return presentAgent(app, answer)
  }
}

/** A payment is public once it is on the chain: the key is shown again only to who had a word of their own for it. */
async function presentAgent(
  app: AppServices,
  { purchase, isReplay }: Extract<PurchaseResult, { kind: 'done' }>,
): Promise<Answer> {
  if (purchase.resultId.startsWith('refund:'))
    throw new ApiError(
      'conflict',
      'The name was taken before the payment arrived; the money goes back to who paid',
      {
        code: 'duplicate_agent',
      },
    )
  const id = purchase.resultId as AgentId
  const headers = { ...responseHeaders(app, purchase), ...(isReplay && { 'Idempotent-Replayed': 'true' }) }
  const { data } = presentRegistered(await openSecrets(app, id))
  if (!isReplay || purchase.requestKey !== null)
    return { status: 201, body: { success: true, data }, headers }
  const { slug } = await findAgentById(app.db, id)
  const note = 'The key is shown once; the owner’s wallet reads it again by POST /api/agents/recover.'
  return { status: 200, body: { success: true, data: { agent_id: id, slug, note } }, headers }
}
