import Fastify from 'fastify'

/** The bare engine: Fastify, one route that sends as many bytes as the query says; no checks, limits, headers or logs. */
const app = Fastify()
const bodies = new Map<number, Buffer>()

app.get<{ Querystring: { bytes: string } }>('/', async (request, reply) => {
  const bytes = Number(request.query.bytes)
  const body = bodies.get(bytes) ?? Buffer.alloc(bytes, 'x')
  bodies.set(bytes, body)
  return reply.type('application/json').send(body)
})
app.get('/metrics', async () => {
  const { user, system } = process.cpuUsage()
  return `process_cpu_seconds_total ${(user + system) / 1e6}\n`
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
