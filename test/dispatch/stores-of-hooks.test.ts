import { it } from 'node:test'
import type { HttpRequest } from '../../lib/index.ts'
import { assertStoresAreApart, enterStoreOf } from '../support/stores.ts'

it('begins no request in a store that a hook of the one before it has entered', (t) =>
  assertStoresAreApart(t, {
    hooks: { preDispatch: (request: HttpRequest) => enterStoreOf(request.header('x-user')) },
  }))
