import { FrontController, type FrontControllerOptions } from '../../lib/index.ts'

/**
 * Creates a front controller.
 *
 * @param controllers The controllers of the default module by name, such as `{ news: { list() {} } }`.
 */
export function createFront(
  controllers: object,
  options: FrontControllerOptions = {},
): FrontController {
  return new FrontController({ controllers: new Map(Object.entries(controllers)), ...options })
}
