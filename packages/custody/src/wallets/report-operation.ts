import { record } from '@market/core/audit'
import { isToken } from '@market/core/ports/agent-wallets'
import type { Tx } from '@market/database/transact'
import { END_LEAK, findAgentById, notifyOwner } from '@market/identity/agents'
import type { WalletTransaction } from './operation.ts'
import type { SignerContext } from './wallet-context.ts'

/** Every end of an operation is in the audit log, and the owner is notified of what the wallet did. */
export async function report(ctx: SignerContext, tx: Tx, operation: WalletTransaction): Promise<void> {
  const { id, agentId, task, failure, reference } = operation
  const audit = { ...ctx, actor: { kind: 'system', name: 'wallets' } as const, requestId: id }
  await record(audit, tx, {
    act: `wallets.${task.kind}.${failure === null ? 'done' : 'failed'}`,
    subject: agentId,
    details: {
      operation_id: id,
      ...(failure !== null && { failure }),
      ...(reference !== null && { reference }),
    },
  })
  if (failure !== null) return
  const agent = await findAgentById(tx, agentId)
  const data = { operation_id: id, ...('to' in task && { to: task.to }) }
  await notifyOwner(ctx, tx, agent, { ...notificationOf(agent.name, operation), data })
}

function notificationOf(name: string, { task, reference, mint }: WalletTransaction) {
  switch (task.kind) {
    case 'export':
      return {
        kind: 'agent.wallet_exported',
        title: `The secret key of ${name}’s wallet was exported`,
        body: 'Whoever has it can spend what the wallet holds. If this was not you, withdraw everything now.',
      } as const
    case 'launch':
      return {
        kind: 'agent.token_launched',
        title: `${name} launched its token ${task.token.symbol}`,
        body: `The mint is ${mint}. ${END_LEAK}`,
      } as const
    case 'identity':
      return {
        kind: 'agent.identity_minted',
        title: `${name} minted its identity`,
        body: `The mint is ${mint}. ${END_LEAK}`,
      } as const
    default:
      return {
        kind: 'agent.wallet_sent',
        title: `${name}’s wallet sent ${isToken(task.asset) ? `the token ${task.asset.mint}` : task.asset}`,
        body: `The transaction ${reference} sent to ${task.to}. ${END_LEAK}`,
      } as const
  }
}
