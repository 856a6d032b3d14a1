import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'

/** What docs/operations/scale.md says about a shared cache, and what a program on its own needs. */
const configurationOf = (folder: string, port: number, api: string): string => `
daemon off; user root; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  proxy_cache_path ${folder}/cache keys_zone=reads:16m max_size=256m inactive=1m use_temp_path=off;
  upstream api { server ${new URL(api).host}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=1024; keepalive_requests 1000000;
    location / {
      proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $http_x_forwarded_for;
      proxy_cache reads; proxy_cache_lock on;
    }
  }
}`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Debian's nginx with a cache in front of the api. */
export async function startSharedCache(api: string) {
  const folder = mkdtempSync(join(tmpdir(), 'market-cache-'))
  const port = await freePort()
  writeFileSync(join(folder, 'nginx.conf'), configurationOf(folder, port, api))
  const child = spawn(process.env['NGINX'] ?? 'nginx', ['-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit')
  await until('nginx listens', async () => {
    const socket = connect(port, '127.0.0.1')
    return once(socket, 'connect').then(
      () => socket.end() && true,
      () => false,
    )
  })
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
