import type { FastifyInstance } from 'fastify'

export interface Health {
  /** True once this process may be sent requests: the database answers and has the tables this code knows. */
  isReady(): Promise<boolean>
  isDraining(): boolean
}

/** `/healthz` says that the process lives, whatever it depends on; `/readyz` that it can serve. */
export function mountHealth(app: FastifyInstance, health: Health): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (health.isDraining()) return reply.code(503).send({ status: 'draining' })
    const ready = await health.isReady().catch(() => false)
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' })
  })
}
