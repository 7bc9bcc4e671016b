<?php

// A model of Portico that is built from ZF1's own code. Each difference of section 10 of the specification can be enabled
// by its id. The rules of other sections that ZF1 does not have can be enabled too: LIMITS (section 7), FORM (415 for a
// form that is compressed or in another charset), METHODS (no TRACE), TARGET (a request target is a path without a
// fragment: RFC 9112, section 3.2).

/** The enabled differences, and the name rule. */
final class Differences
{
    private const MAX_FIELDS = 1000;

    private readonly array $ids;

    /** @param array $search,$form The query and the body as URLSearchParams parses them: lists of names and values. */
    public function __construct(
        array $ids,
        public readonly string $names,
        public readonly array $search,
        public readonly array $form,
    ) {
        $this->ids = array_flip($ids);
    }

    public function has(string $id): bool
    {
        return isset($this->ids[$id]);
    }

    public function isExact(string $id): bool
    {
        return $this->has($id) && $this->names === 'exact';
    }

    public function isEmpty(mixed $name): bool
    {
        return $this->has('X2') ? $name === null || $name === '' : empty($name);
    }

    public function isBeyond(int $fields): bool
    {
        return $this->has('LIMITS') && $fields > self::MAX_FIELDS;
    }
}

final class Model extends Application
{
    private ModelRoute $route;
    private array $names;

    public function __construct(array $modules, string $folder, private Differences $differences)
    {
        parent::__construct($modules, $folder);
    }

    public function run(array $request): array
    {
        $original = $request;
        if ($this->differences->has('X10')) {
            $request['target'] = self::withoutOrigin($request['target']);
        }
        if ($this->differences->has('X4')) {
            $isRouted = fn ($header) => !preg_match('/^X-(Original|Rewrite)-URL$/i', $header[0]);
            $request['headers'] = array_filter($request['headers'], $isRouted);
        }
        $outcome = parent::run($request);
        $status = $this->rejectionStatus($original, $request);
        if ($status !== null) {
            $sent = self::sent();
            // Portico does not read a form that it rejects.
            $form = in_array($status, [413, 415], true) ? [] : $sent['form'];
            return ['outcome' => 'error', 'type' => 'EXCEPTION_OTHER', 'status' => $status, 'form' => $form] + $sent;
        }
        // Portico checks the method before the hooks.
        $isRun = !str_contains($outcome['trace'][0] ?? '/error/', '/error/');
        if ($this->differences->has('METHODS') && $request['method'] === 'TRACE' && $isRun) {
            unset($outcome['ran'], $outcome['message'], $outcome['trace'], $outcome['response']);
            return ['outcome' => 'error', 'type' => 'EXCEPTION_OTHER', 'status' => 405, 'code' => 405] + $outcome;
        }
        if ($this->differences->has('X17') && ($outcome['type'] ?? '') === 'EXCEPTION_NO_ACTION') {
            $outcome['message'] = "Action \"$outcome[action]\" does not exist";
        }
        return $outcome;
    }

    // The checks are in Portico's order: the form, the target, the numbers of parameters.
    private function rejectionStatus(array $original, array $request): ?int
    {
        $differences = $this->differences;
        $path = explode('?', $request['target'], 2)[0];
        $hasForm = $this->hasForm($request);
        return match (true) {
            $differences->has('FORM') && $hasForm && self::isUnsupportedForm($request) => 415,
            $hasForm && $differences->isBeyond(count($differences->form)) => 413,
            $differences->has('LIMITS') && strlen($original['target']) > 8192 => 414,
            $differences->has('TARGET') && !self::isPath($original['target'], $path) => 400,
            $differences->has('X1') && !self::isDecodable($path) => 400,
            $differences->isBeyond(count($differences->search)) => 400,
            $differences->isBeyond($this->route->pairsFound) => 400,
            default => null,
        };
    }

    private static function withoutOrigin(string $target): string
    {
        [$path, $search] = explode('?', $target, 2) + [1 => null];
        $short = preg_replace('~^[a-z][a-z0-9+.-]*://[^/]*~i', '', $path);
        if ($short === '' && $path !== '') {
            $short = '/';
        }
        return $search === null ? $short : "$short?$search";
    }

    private static function isPath(string $original, string $path): bool
    {
        return str_starts_with($path, '/') && !str_contains($original, '#');
    }

    private static function isUnsupportedForm(array $request): bool
    {
        $coding = strtolower(self::header($request, 'Content-Encoding'));
        preg_match('/;\s*charset="?([^";,\s]*)/i', self::header($request, 'Content-Type'), $charset);
        return !in_array($coding, ['', 'identity'], true) || !preg_match('/^(utf-?8)?$/i', $charset[1] ?? '');
    }

    private static function isDecodable(string $path): bool
    {
        $decoded = rawurldecode($path);
        return !preg_match('/%(?![0-9a-f]{2})/i', $path) && preg_match('/^[^\p{Cc}]*$/Du', $decoded);
    }

    protected function step(Zend_Controller_Action $controller, string $kind, array $ran): void
    {
        $request = $controller->getRequest();
        if ($kind === 'action') {
            $this->names = self::namesOf($request);
        }
        if (!$this->differences->has('X20') || $kind !== 'postDispatch' || $request->isDispatched()) {
            parent::step($controller, $kind, $ran);
            return;
        }
        // The action has forwarded. In Portico its own request has not changed.
        $next = self::namesOf($request);
        self::setNames($request, $this->names);
        $request->setDispatched(true);
        parent::step($controller, $kind, $ran);
        if ($request->isDispatched()) {
            self::setNames($request, $next);
            $request->setDispatched(false);
        }
    }

    private static function namesOf(Zend_Controller_Request_Http $request): array
    {
        return [$request->getModuleName(), $request->getControllerName(), $request->getActionName()];
    }

    private static function setNames(Zend_Controller_Request_Http $request, array $names): void
    {
        $request->setModuleName($names[0])->setControllerName($names[1])->setActionName($names[2]);
    }

    protected function end(Zend_Controller_Response_Http $response, string $kind): void
    {
        if (!$this->differences->has('X21') || $kind !== 'action') {
            parent::end($response, $kind);
        }
        $response->setRedirect('/login');
    }

    protected function createDispatcher(): Zend_Controller_Dispatcher_Standard
    {
        return new ModelDispatcher($this->modules, $this->differences);
    }

    protected function prepare(Zend_Controller_Front $front): void
    {
        $this->route = new ModelRoute($front->getDispatcher(), $front->getRequest(), $this->differences);
        $front->getRouter()->addRoute('default', $this->route);
        if ($this->differences->has('X5')) {
            $front->getRequest()->setBaseUrl('');
        }
    }

    protected function pairs(Zend_Controller_Request_Http $request): array
    {
        return $this->differences->has('X3') ? $this->route->pairs : parent::pairs($request);
    }

    protected function readQuery(string $rewritten): array
    {
        $search = $this->differences->search;
        return $this->differences->has('X8') ? array_column($search, 1, 0) : parent::readQuery($rewritten);
    }

    protected function readForm(string $body): array
    {
        $form = $this->differences->form;
        return $this->differences->has('X8') ? array_column($form, 1, 0) : parent::readForm($body);
    }
}

/** Ends a dispatch whose `init` has forwarded: no code of ZF1 catches it. */
final class Forwarded extends Error
{
}

final class ModelDispatcher extends FreshDispatcher
{
    public function __construct(private array $modules, private Differences $differences)
    {
        parent::__construct();
    }

    public function isValidModule($module)
    {
        if ($this->differences->isExact('X7')) {
            return is_string($module) && isset($this->modules[$module]);
        }
        return parent::isValidModule($module);
    }

    public function getControllerClass(Zend_Controller_Request_Abstract $request)
    {
        $name = $request->getControllerName();
        if ($this->differences->isEmpty($name)) {
            return false;
        }
        $module = $request->getModuleName();
        if (!$this->isValidModule($module)) {
            $module = $this->_defaultModule;
            $request->setModuleName($module);
        }
        $this->_curModule = $this->differences->has('X7') ? strtolower($module) : $module;
        $this->_curDirectory = $this->getControllerDirectory()[$this->_curModule];
        return $this->formatControllerName($name);
    }

    public function isDispatchable(Zend_Controller_Request_Abstract $request)
    {
        if (!parent::isDispatchable($request)) {
            return false;
        }
        $name = $request->getControllerName();
        $class = $this->formatControllerName($name);
        $isErrorController = $this->_curModule === 'default' && $class === 'ErrorController';
        $isFromOutside = !$request->getUserParam('error_handler') instanceof ArrayObject;
        return match (true) {
            $this->differences->has('X6') && $isErrorController && $isFromOutside => false,
            $this->differences->has('X9') && str_contains($name, '_') => false,
            $this->differences->isExact('X11') => isset($this->modules[$this->_curModule][$name]),
            default => true,
        };
    }

    public function dispatch(Zend_Controller_Request_Abstract $request, Zend_Controller_Response_Abstract $response)
    {
        // ZF1 treats `0` as empty, so it would run the default controller.
        if ($this->differences->has('X2') && $request->getControllerName() === '0') {
            throw new Zend_Controller_Dispatcher_Exception('Invalid controller specified (0)');
        }
        try {
            parent::dispatch($request, $response);
        } catch (Forwarded) {
            // The front controller dispatches the request again.
        } catch (Exception $exception) {
            if ($this->differences->has('X13')) {
                $response->clearAllHeaders()->setHttpResponseCode(200);
            }
            throw $exception;
        }
    }

    public function getActionMethod(Zend_Controller_Request_Abstract $request)
    {
        // ZF1 has just called `init`, and now overrides its forward.
        if ($this->differences->has('X19') && !$request->isDispatched()) {
            throw new Forwarded();
        }
        if ($this->differences->isEmpty($request->getActionName())) {
            $request->setActionName($this->getDefaultAction());
        }
        $action = $request->getActionName();
        $method = $this->formatActionName($action);
        $isRegistered = kebabCased(substr($method, 0, -strlen('Action'))) === $action;
        return $this->differences->isExact('X11') && !$isRegistered ? 'noSuchAction' : $method;
    }
}

/** ZF1's default route with another match(), because the differences are in the middle of that method. */
final class ModelRoute extends Zend_Controller_Router_Route_Module
{
    public array $pairs = [];
    public int $pairsFound = 0;

    public function __construct(
        Zend_Controller_Dispatcher_Interface $dispatcher,
        Zend_Controller_Request_Abstract $request,
        private Differences $differences,
    ) {
        parent::__construct([], $dispatcher, $request);
    }

    public function match($path, $partial = false)
    {
        $this->_setRequestKeys();
        $names = [];
        $segments = explode('/', trim($path, '/'));
        if ($this->_dispatcher->isValidModule($segments[0])) {
            $names['module'] = array_shift($segments);
        }
        foreach (['controller', 'action'] as $key) {
            if (!$this->differences->isEmpty($segments[0] ?? null)) {
                $names[$key] = array_shift($segments);
            }
        }
        // The path '/' has no segments, but explode() returns one empty segment.
        $pairs = $segments === [''] ? [] : $this->readPairs($segments);
        $this->pairsFound = intdiv(count($segments), 2);
        $this->pairs = array_filter($pairs, fn ($value) => $value !== null);
        if ($this->differences->has('X3')) {
            $pairs = array_diff_key($pairs, ['module' => 1, 'controller' => 1, 'action' => 1]);
        }
        return $names + $pairs + $this->_defaults;
    }

    private function readPairs(array $segments): array
    {
        $pairs = [];
        foreach (array_chunk($segments, 2) as $pair) {
            $key = urldecode($pair[0]);
            $value = isset($pair[1]) ? urldecode($pair[1]) : null;
            if (!isset($pairs[$key])) {
                $pairs[$key] = $value;
            } elseif ($value !== null || !$this->differences->has('X12')) {
                $pairs[$key] = array_merge((array) $pairs[$key], [$value]);
            }
        }
        return $pairs;
    }
}
