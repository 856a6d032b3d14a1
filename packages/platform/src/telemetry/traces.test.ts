import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { trace } from '@opentelemetry/api'
import { expect, test } from 'vitest'
import { startTraces } from './traces.ts'

interface Exported {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] }
    scopeSpans: { spans: { name: string; spanId: string; parentSpanId?: string }[] }[]
  }[]
}

test('without a collector a span records nothing', async () => {
  const traces = await startTraces({ service: 'api' })
  const span = trace.getTracer('test').startSpan('work')
  expect(span.isRecording()).toBe(false)
  await traces.stop()
})

test('with a collector spans arrive there, nested over await, under the name of the service', async () => {
  const bodies: string[] = []
  const collector = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    bodies.push(body)
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`

  const traces = await startTraces({ endpoint, service: 'market-api' })
  const tracer = trace.getTracer('test')
  await tracer.startActiveSpan('outer', async (outer) => {
    await Promise.resolve()
    tracer.startActiveSpan('inner', (inner) => inner.end())
    outer.end()
  })
  await traces.stop()
  const closed = once(collector, 'close')
  collector.close()
  collector.closeAllConnections()
  await closed

  const [exported] = bodies.map((body) => JSON.parse(body) as Exported)
  const [resourceSpans] = exported?.resourceSpans ?? []
  expect(resourceSpans?.resource.attributes).toEqual([
    { key: 'service.name', value: { stringValue: 'market-api' } },
  ])
  const spans = resourceSpans?.scopeSpans.flatMap((scope) => scope.spans) ?? []
  const [outer, inner] = ['outer', 'inner'].map((name) => spans.find((span) => span.name === name))
  expect(outer?.spanId).toMatch(/^[0-9a-f]{16}$/)
  expect(inner?.parentSpanId).toBe(outer?.spanId)
})

test('an unreachable collector does not prevent the process from ending', async () => {
  const traces = await startTraces({ endpoint: 'http://127.0.0.1:1/v1/traces', service: 'market-api' })
  trace.getTracer('test').startSpan('work').end()
  await traces.stop()
})
