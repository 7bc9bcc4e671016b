<?php

// Apart, because some copies of ZF1 have no REST route.
class ModelRest extends Zend_Rest_Route
{
    /** The keys that a pair must not set. */
    public array $foreign = [];
    /** What a parent leaves of the path. */
    public ?string $rest = null;

    public function match($request, $partial = false)
    {
        $this->_request = $request;
        $this->_setRequestKeys();
        $raw = On::has('X38') && $this->rest !== null ? $this->rest : trim($request->getPathInfo(), '/');
        $params = On::has('X35') ? [] : $request->getParams();
        $values = $pairs = [];
        if ($raw !== '') {
            $path = explode('/', $raw);
            $isEmpty = fn ($text) => On::has('X2') ? (string) $text === '' : empty($text);
            $module = $this->_defaults['module'];
            if ($this->_dispatcher->isValidModule($path[0])) {
                $module = $path[0];
                if ($this->_checkRestfulModule($module)) {
                    $values['module'] = array_shift($path);
                    $this->_moduleValid = true;
                }
            }
            $controller = $this->_defaults['controller'];
            $isNamed = count($path) && !$isEmpty($path[0]);
            $controller = $isNamed ? $path[0] : $controller;
            if (!$this->_checkRestfulController($module, $controller)) {
                return false;
            }
            $values['controller'] = $isNamed ? array_shift($path) : $controller;
            $values['action'] = 'get';
            $count = count($path);
            $page = false;
            if ($count && in_array($path[0], ['index', 'new'], true)) {
                $page = array_shift($path);
            } elseif ($count && $path[$count - 1] === 'edit' && (!On::has('X36') || ($count === 2 && $path[0] !== ''))) {
                $page = 'edit';
                $params['id'] = urldecode($path[$count - 2] ?? '');
                $path = On::has('X36') ? [] : $path;
            } elseif ($count === 1) {
                $params['id'] = urldecode(array_shift($path));
            } elseif ($count === 0 && !isset($params['id'])) {
                $page = 'index';
            }
            for ($i = 0; $i < count($path); $i += 2) {
                $key = urldecode($path[$i]);
                $value = $path[$i + 1] ?? null;
                if (($value === null && On::has('X12')) || (On::has('X3') && On::isName($key)) || (On::has('X28') && isset($this->foreign[$key]))) {
                    continue;
                }
                if (On::has('X27')) {
                    $pairs[$key][] = urldecode($value ?? '');
                } else {
                    $pairs[$key] = urldecode($value ?? '');
                }
            }
            $method = strtolower($request->getMethod());
            if ($method === 'head' && On::has('X37') && !in_array('head', ACTIONS[$values['controller']] ?? [], true)) {
                $method = 'get';
            }
            if ($method !== 'get') {
                $override = $request->getParam('_method') ?: $request->getHeader('X-HTTP-Method-Override');
                $action = strtolower(!On::has('X35') && $override ? $override : $method);
                $values['action'] = $action === 'post' && $count > 0 ? 'put' : $action;
            } elseif ($page) {
                $values['action'] = $page;
            }
        }
        $this->_values = $values + $pairs + $params;
        $result = $this->_values + $this->_defaults;
        if ($partial && $result) {
            $this->setMatchedPath(On::has('X38') ? $raw : $request->getPathInfo());
        }
        return $result;
    }
}
