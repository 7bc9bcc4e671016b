<?php

/** Writes a file for each controller, because ZF1 finds a class by its file name. */
function writeControllers(array $modules, string $folder): void
{
    foreach ($modules as $module => $controllers) {
        mkdir("$folder/$module");
        foreach ($controllers as $controller => $actions) {
            $prefix = $module === 'default' ? '' : camelCased($module) . '_';
            $class = camelCased($controller) . 'Controller';
            $methods = '';
            foreach ($actions as $action) {
                $isHook = in_array($action, ['init', 'preDispatch', 'postDispatch'], true);
                $isAction = !$isHook && $action !== '__call';
                $ran = var_export([$module, $controller, $isAction ? kebabCased($action) : $action], true);
                $body = "\$this->getInvokeArg('step')(\$this, '" . ($isHook ? $action : 'action') . "', $ran);";
                $head = $isAction ? "{$action}Action()" : ($isHook ? "$action()" : '__call($name, $arguments)');
                $methods .= "public function $head { $body }\n";
            }
            $text = "<?php class $prefix$class extends Zend_Controller_Action { $methods }";
            file_put_contents("$folder/$module/$class.php", $text);
        }
    }
}

function camelCased(string $name): string
{
    return str_replace(' ', '', ucwords(str_replace('-', ' ', $name)));
}

function kebabCased(string $name): string
{
    return strtolower(preg_replace('/[A-Z]/', '-$0', $name));
}

/** Ends a request as `exit` does: no code of ZF1 catches it. */
final class Ended extends Error
{
}

/** ZF1 without changes. Before it runs, the request is changed as Apache and PHP would change it. Each action records its input. */
class Application
{
    private const NAMES = ['module' => 1, 'controller' => 1, 'action' => 1];
    private const RESERVED = self::NAMES + ['q' => 1, 'error_handler' => 1];

    private array $outcome = ['outcome' => 'nothing'];
    private array $trace = [];
    private array $counts = [];

    public function __construct(protected array $modules, private string $folder)
    {
    }

    public function run(array $request): array
    {
        $this->setGlobals($request);
        $front = Zend_Controller_Front::getInstance();
        $front->resetInstance();
        $front->setRequest(new Zend_Controller_Request_Http());
        $front->setResponse(new Zend_Controller_Response_Http());
        $front->setDispatcher($this->createDispatcher());
        foreach (array_keys($this->modules) as $module) {
            $front->addControllerDirectory("$this->folder/$module", $module);
        }
        $front->setParam('noViewRenderer', true)->setParam('step', $this->step(...))->returnResponse(true);
        $this->prepare($front);
        $level = ob_get_level();
        try {
            $front->dispatch();
        } catch (Ended) {
            while (ob_get_level() > $level) {
                ob_end_clean();
            }
        } catch (Throwable $thrown) {
            return ['outcome' => 'fatal', 'message' => get_class($thrown) . ': ' . self::text($thrown->getMessage())];
        }
        $sent = $this->outcome['outcome'] === 'error' ? [] : ['response' => self::statusAndLocation($front->getResponse())];
        return $this->outcome + ['trace' => $this->trace] + $sent;
    }

    private static function statusAndLocation(Zend_Controller_Response_Http $response): array
    {
        return [$response->getHttpResponseCode(), array_column($response->getHeaders(), 'value', 'name')['Location'] ?? ''];
    }

    protected function createDispatcher(): Zend_Controller_Dispatcher_Standard
    {
        return new FreshDispatcher();
    }

    protected function prepare(Zend_Controller_Front $front): void
    {
    }

    /** Returns the pairs of the path. */
    protected function pairs(Zend_Controller_Request_Http $request): array
    {
        return array_diff_key($request->getUserParams(), self::NAMES);
    }

    /** Returns the query string that PHP gets: `RewriteRule ^(.*)$ index.php?q=$1 [QSA]` pastes the path into it unescaped. */
    protected function rewrite(string $path, string $search): string
    {
        $search = substr($search, 0, strcspn($search, '#'));
        // Apache itself rejects a path with one of these characters. ZF1 was recorded with only the client's query string.
        $rewritten = 'q=' . (preg_match('/[\x00-\x20\x7f]/', $path) ? '' : $path) . ($search === '' ? '' : "&$search");
        return substr($rewritten, 0, strcspn($rewritten, '#'));
    }

    protected function readQuery(string $rewritten): array
    {
        parse_str($rewritten, $query);
        return $query;
    }

    protected function readForm(string $body): array
    {
        parse_str($body, $form);
        return $form;
    }

    protected function hasForm(array $request): bool
    {
        $type = self::header($request, 'Content-Type');
        // PHP ends the media type at the first of these characters (main/SAPI.c).
        $media = strtolower(substr($type, 0, strcspn($type, ';, ')));
        return $request['method'] === 'POST' && $media === 'application/x-www-form-urlencoded';
    }

    protected static function header(array $request, string $name): string
    {
        $values = array_change_key_case(array_column($request['headers'], 1, 0));
        return $values[strtolower($name)] ?? '';
    }

    /** Sets the global variables that PHP would set for a request from Apache. */
    protected function setGlobals(array $request): void
    {
        [$path, $search] = explode('?', $request['target'], 2) + [1 => ''];
        $path = preg_replace('~^[a-z][a-z0-9+.-]*://[^/]*~i', '', $path);
        $rewritten = $this->rewrite(self::normalisedPath(rawurldecode($path)), $search);
        $_SERVER = [
            'REQUEST_METHOD' => $request['method'],
            'REQUEST_URI' => $request['target'],
            'QUERY_STRING' => $rewritten,
            'SCRIPT_NAME' => '/index.php',
            'PHP_SELF' => '/index.php',
            'SCRIPT_FILENAME' => '/var/www/public/index.php',
            'HTTP_HOST' => '127.0.0.1:8081',
        ];
        foreach ($request['headers'] as [$name, $value]) {
            $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
        }
        $_GET = $this->readQuery($rewritten);
        $_POST = $this->hasForm($request) ? $this->readForm($request['body']) : [];
    }

    private static function normalisedPath(string $path): string
    {
        $kept = [];
        foreach (explode('/', $path) as $segment) {
            if ($segment === '..') {
                array_pop($kept);
            } elseif ($segment !== '.') {
                $kept[] = $segment;
            }
        }
        $end = preg_match('~/\.\.?$~', $path) ? '/' : '';
        return preg_replace('~/+~', '/', '/' . implode('/', $kept) . $end);
    }

    /** Runs a hook or an action. It does what the query requests: `init2=throw` is for the second call of an `init`. */
    protected function step(Zend_Controller_Action $controller, string $kind, array $ran): void
    {
        $this->trace[] = implode('/', $ran);
        if ($kind === 'action') {
            $this->record($controller->getRequest(), $ran);
        }
        $this->counts[$kind] = ($this->counts[$kind] ?? 0) + 1;
        $instruction = $_GET[$kind . $this->counts[$kind]] ?? '';
        if (!is_string($instruction) || $ran[1] === 'error') {
            return;
        }
        [$verb, $first, $second] = explode('.', $instruction) + [1 => '', 2 => null];
        $response = $controller->getResponse();
        match ($verb) {
            'throw' => throw new Exception("$kind throws", 403),
            'redirect' => $response->setRedirect('/login'),
            'end' => $this->end($response, $kind),
            'status' => $response->setHttpResponseCode((int) $first),
            'forward' => $controller->forward($first, $second),
            default => null,
        };
    }

    /** Does what `_redirect()` does. */
    protected function end(Zend_Controller_Response_Http $response, string $kind): void
    {
        $response->setRedirect('/login');
        throw new Ended();
    }

    private function record(Zend_Controller_Request_Http $request, array $ran): void
    {
        $error = $request->getUserParam('error_handler');
        if (!$error instanceof ArrayObject) {
            $this->outcome = ['outcome' => 'dispatched', 'ran' => $ran] + $this->facts($request);
            return;
        }
        $this->outcome = [
            'outcome' => 'error',
            'type' => $error->type,
            'message' => self::text($error->exception->getMessage()),
            'code' => $error->exception->getCode(),
        ] + $this->facts($error->request);
    }

    private function facts(Zend_Controller_Request_Http $request): array
    {
        $path = [];
        foreach ($this->pairs($request) as $name => $value) {
            $values = is_array($value) ? array_map(self::value(...), array_values($value)) : self::value($value);
            $path[] = [self::text($name), $values];
        }
        // The first source that has a name supplies its value; the order of the sources is Portico's.
        $merged = array_replace($_POST, $_GET, $this->pairs($request));
        return [
            'module' => self::value($request->getModuleName()),
            'controller' => self::value($request->getControllerName()),
            'action' => self::value($request->getActionName()),
            'path' => $path,
            'params' => self::toPairs(array_map(self::last(...), array_diff_key($merged, self::RESERVED))),
        ] + self::sent();
    }

    /** Returns the query and the form of the client. */
    protected static function sent(): array
    {
        return ['query' => self::toPairs(array_diff_key($_GET, ['q' => 1])), 'form' => self::toPairs($_POST)];
    }

    private static function last(mixed $value): mixed
    {
        return is_array($value) && array_is_list($value) ? end($value) : $value;
    }

    private static function toPairs(array $values): array
    {
        return array_map(fn ($name, $value) => [self::text($name), self::value($value)], array_keys($values), $values);
    }

    private static function value(mixed $value): mixed
    {
        if (is_array($value)) {
            return ['map' => self::toPairs($value)];
        }
        return $value === null ? null : self::text($value);
    }

    // JSON cannot contain bytes that are not UTF-8.
    private static function text(mixed $value): string|array
    {
        $text = (string) $value;
        return preg_match('//u', $text) ? $text : ['hex' => bin2hex($text)];
    }
}

/** A dispatcher that behaves as in a new process. ZF1 otherwise finds controllers that an earlier request has loaded. */
class FreshDispatcher extends Zend_Controller_Dispatcher_Standard
{
    public function isDispatchable(Zend_Controller_Request_Abstract $request)
    {
        $class = $this->getControllerClass($request);
        if (!$class) {
            return false;
        }
        return Zend_Loader::isReadable($this->getDispatchDirectory() . '/' . $this->classToFilename($class));
    }

    // Some copies of ZF1 lack this cast. Without it, a name that is a list causes a fatal error instead of an empty name.
    protected function _formatName($name, $isAction = false)
    {
        return parent::_formatName($isAction ? $name : (string) $name, $isAction);
    }
}
