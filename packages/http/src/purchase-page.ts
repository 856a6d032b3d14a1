import { operations } from '@market/contract/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addVary } from './headers.ts'

const URL_OF_ORDER = operations.getPurchasedOrder.path.replace('{order_id}', ':order_id')

/**
 * Leads a browser that opens the `status_url` of a purchase to its page; programs get JSON. The address contains the access
 * token, so that nothing stores it and no other site gets it: see the headers of every response.
 */
export function leadToPurchasePage(app: FastifyInstance, pagesUrl: string): void {
  app.addHook<{ Params: { order_id: string }; Querystring: { t?: unknown } }>(
    'onRequest',
    async (request, reply) => {
      if (request.routeOptions.url !== URL_OF_ORDER) return
      addVary(reply, 'Accept')
      const { t } = request.query
      if (request.method !== 'GET' || typeof t !== 'string' || !wantsHtml(request)) return
      const page = new URL(`/o/${encodeURIComponent(request.params.order_id)}`, pagesUrl)
      page.searchParams.set('t', t)
      return reply.redirect(page.href, 303)
    },
  )
}

/** A browser names HTML first; a program that accepts anything gets JSON. */
const wantsHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  accept.includes('text/html') && !/application\/json/.test(accept.split('text/html')[0] ?? '')
