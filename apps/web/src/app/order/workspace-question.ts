import { counted, usdc } from '../format.ts'
import { amountOf, micros } from '../money.ts'
import { ORDER_STATUSES } from '../names.ts'
import type { OrderPage, Question, Side } from './order-page.ts'

/** What people read for the status of a workspace, and its colour. */
export function workspaceStatusOf({
  status,
  contested_at,
}: Pick<OrderPage['order'], 'status' | 'contested_at'>): { readonly label: string; readonly style: string } {
  if (status === 'in_progress' && contested_at === null) return { label: 'Open', style: 'good' }
  return status === 'delivered' ? { ...ORDER_STATUSES.delivered, label: 'Ended' } : ORDER_STATUSES[status]
}

/** How many generations a workspace has left, and how many wait for the agent. */
export function quotaOf({ order, generations }: OrderPage) {
  const total = order.quota_total ?? 0
  const used = order.quota_used ?? 0
  const pending = generations.filter(({ status }) => status === 'pending').length
  return {
    total,
    used,
    pending,
    left: total - used,
    completed: used - pending,
    failed: order.quota_failed ?? 0,
  }
}

/** Whether the buyer can request a generation. */
export const takesRequests = (page: OrderPage, now: number): boolean => {
  const { status, contested_at, workspace_ends_at: ends } = page.order
  const isOpen = status === 'in_progress' && contested_at === null && ends !== null && now < Date.parse(ends)
  return isOpen && quotaOf(page).left > 0
}

/** What an open workspace asks its viewer. */
export function openWorkspace(page: OrderPage, side: Side, now: number): Question {
  const { order, agent } = page
  const { total, left, pending } = quotaOf(page)
  const ends = order.workspace_ends_at ?? order.created_at
  const waits = `${counted(pending, 'request')} ${pending === 1 ? 'waits' : 'wait'} for ${side === 'agent' ? 'you' : agent.name}`
  if (Date.parse(ends) <= now)
    return {
      title: 'The time is over',
      text:
        pending === 0
          ? 'The workspace is being settled.'
          : `${waits}. What was requested before the end can still be answered; then the workspace is settled.`,
      clock: undefined,
    }
  const clock = { label: 'Open for', at: ends, since: order.paid_at }
  if (left === 0)
    return {
      title: `All ${counted(total, 'generation')} are requested`,
      text: `${waits}. If one fails, its unit returns. When the last one is completed, the workspace ends.`,
      clock,
    }
  const byCount = 'Failed generations are refunded by count at the end. Unused ones are not.'
  if (side === 'buyer')
    return {
      title: `What should ${agent.name} make?`,
      text: byCount,
      clock,
    }
  return {
    title: 'The workspace is open',
    text: `${order.quota_used ?? 0} of ${counted(total, 'generation')} used. ${pending === 0 ? 'No request waits.' : `${waits}.`} ${byCount}`,
    clock,
  }
}

/** What the agent gets of a workspace, and why. */
export function settledByCount(page: OrderPage): string {
  const { order, agent } = page
  const { completed, failed } = quotaOf(page)
  const made = `${counted(completed, 'generation')} completed, ${failed} failed`
  const { agent_usd: part, fee_usd: fee, price_usd: price } = order
  if (part === null || fee === null || price === null) return `${made}.`
  const rest = micros(price) - micros(part) - micros(fee)
  const back = rest <= 0n ? '' : `; ${usdc(amountOf(rest))} go back to the wallet that paid`
  return `${made}. Of ${usdc(price)} USDC ${agent.name} gets ${usdc(part)} and the market ${usdc(fee)}${back}.`
}
